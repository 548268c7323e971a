// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.version;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.nativelib.VersionRange;
import org.junit.jupiter.api.Test;

class VersionsTest {
    private static final Versions VERSIONS =
            new Versions("0.1.0", new VersionRange(1, 2), new VersionRange(1, 1), new VersionRange(3, 4));

    @Test
    void jsonIsExactlyWhatOtherProgramsRead() {
        assertThat(VERSIONS.json())
                .isEqualTo("{\"product\":\"0.1.0\",\"wire\":{\"min\":1,\"max\":2},\"layout\":{\"min\":1,\"max\":1},"
                        + "\"abi\":{\"min\":3,\"max\":4}}");
    }

    @Test
    void textIsForPeople() {
        assertThat(VERSIONS.text()).isEqualTo("kvpool 0.1.0 (wire 1-2, segment layout 1, C ABI 3-4)");
    }

    @Test
    void theProductVersionIsThatOfTheBuild() {
        assertThat(ProductVersion.text()).matches("[0-9]+\\.[0-9]+\\.[0-9]+");
    }
}
