// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The sizes that native/src/store/layout.h gives, told by hand. */
class ExtentSizeTest {
    @Test
    void keyAndPayloadTakeWholeUnitsOf64Bytes() {
        assertThat(ExtentSize.of(1, 0)).isEqualTo(64);
        assertThat(ExtentSize.of(64, 1)).isEqualTo(128);
        assertThat(ExtentSize.of(65, 65)).isEqualTo(256);
    }

    @Test
    void eachBlockOf64KiBHasASum() {
        assertThat(ExtentSize.of(1, 65_535)).isEqualTo(64 + 65_536);
        assertThat(ExtentSize.of(1, 65_536)).isEqualTo(64 + 65_536 + 64);
        assertThat(ExtentSize.of(1, 65_537)).isEqualTo(64 + 65_536 + 64);
        assertThat(ExtentSize.of(1, 16 * 65_536)).isEqualTo(64 + 16 * 65_536 + 64);
        assertThat(ExtentSize.of(1, 17 * 65_536)).isEqualTo(64 + 17 * 65_536 + 128);
    }

    @Test
    void whatNoSegmentHasIsTooLarge() {
        assertThat(ExtentSize.of(1, -1)).isEqualTo(Long.MAX_VALUE);
        assertThat(ExtentSize.of(1, Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void anSsdTakesWholeBlocks() {
        assertThat(ExtentSize.onSsd(0)).isEqualTo(4096);
        assertThat(ExtentSize.onSsd(65_536)).isEqualTo(65_536);
    }
}
