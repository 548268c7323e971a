// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cert;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class KnownRootsTest {
    private final KnownRoots known = new KnownRoots();

    @Test
    void whatMastersGaveCountsBesideTheFileUntilThatChanges() {
        assertThat(known.beside("old")).isEqualTo("old");

        known.note("old", "old\nnext");
        assertThat(known.beside("old")).isEqualTo("old\nold\nnext");
        assertThat(known.beside("next")).as("a file that has changed").isEqualTo("next");

        known.note("next", "next");
        assertThat(known.beside("old")).as("of an earlier file").isEqualTo("old");
    }
}
