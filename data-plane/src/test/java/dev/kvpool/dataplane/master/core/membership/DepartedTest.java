// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.Key;
import org.junit.jupiter.api.Test;

class DepartedTest {
    private final Departed departed = new Departed();

    @Test
    void theLatestFateOfAKeyIsTold() {
        departed.evicted(Key.of("a"));
        departed.removed(Key.of("b"));
        departed.removed(Key.of("a"));

        assertThat(departed.fateOf(Key.of("a"))).isEqualTo(Departed.Fate.REMOVED);
        assertThat(departed.fateOf(Key.of("b"))).isEqualTo(Departed.Fate.REMOVED);
        assertThat(departed.fateOf(Key.of("c"))).isEqualTo(Departed.Fate.UNKNOWN);
    }

    @Test
    void itsMemoryIsBoundedAndTheOldestIsForgottenFirst() {
        departed.removed(Key.of("again"));
        for (int i = 0; i < Departed.KEPT; i++) {
            if (i == 1000) {
                departed.evicted(Key.of("again"));
            }
            departed.evicted(Key.of("k" + i));
        }

        assertThat(departed.size()).isLessThanOrEqualTo(Departed.KEPT);
        assertThat(departed.fateOf(Key.of("k0"))).isEqualTo(Departed.Fate.UNKNOWN);
        assertThat(departed.fateOf(Key.of("k" + (Departed.KEPT - 1)))).isEqualTo(Departed.Fate.EVICTED);
        assertThat(departed.fateOf(Key.of("again")))
                .as("the newer of two entries stays")
                .isEqualTo(Departed.Fate.EVICTED);
    }
}
