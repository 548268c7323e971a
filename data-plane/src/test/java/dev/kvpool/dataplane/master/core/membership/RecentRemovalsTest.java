// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.Key;
import org.junit.jupiter.api.Test;

class RecentRemovalsTest {
    private final RecentRemovals removals = new RecentRemovals();

    @Test
    void theLatestWordAboutAKeyCounts() {
        removals.at(1_000);
        removals.evicted(Key.of("a"));
        removals.removed(Key.of("b"));
        removals.lost(Key.of("c"));
        removals.at(3_000);
        removals.removed(Key.of("a"));
        removals.at(4_000);

        assertThat(removals.fateOf(Key.of("a"))).isEqualTo(RecentRemovals.Fate.REMOVED);
        assertThat(removals.goneForMs(Key.of("a"))).isEqualTo(1_000);
        assertThat(removals.fateOf(Key.of("b"))).isEqualTo(RecentRemovals.Fate.REMOVED);
        assertThat(removals.goneForMs(Key.of("b"))).isEqualTo(3_000);
        assertThat(removals.fateOf(Key.of("c"))).isEqualTo(RecentRemovals.Fate.LOST);
        assertThat(removals.fateOf(Key.of("d"))).isEqualTo(RecentRemovals.Fate.UNKNOWN);
        assertThat(removals.goneForMs(Key.of("d"))).isNegative();
    }

    @Test
    void onlySoManyAreRememberedAndTheOldestGoFirst() {
        removals.at(1_000);
        removals.beginTerm();
        removals.removed(Key.of("again"));
        for (int i = 0; i < RecentRemovals.KEPT; i++) {
            removals.at(2_000 + i);
            if (i == RecentRemovals.KEPT / 2) {
                removals.evicted(Key.of("again"));
            }
            removals.evicted(Key.of("k" + i));
        }

        assertThat(removals.size()).isLessThanOrEqualTo(RecentRemovals.KEPT);
        assertThat(removals.fateOf(Key.of("k0"))).isEqualTo(RecentRemovals.Fate.UNKNOWN);
        assertThat(removals.fateOf(Key.of("k" + (RecentRemovals.KEPT - 1)))).isEqualTo(RecentRemovals.Fate.EVICTED);
        assertThat(removals.fateOf(Key.of("again")))
                .as("what it was told before it went and came again is forgotten, the rest is not")
                .isEqualTo(RecentRemovals.Fate.EVICTED);
        assertThat(removals.goneForMs(Key.of("again"))).isEqualTo(RecentRemovals.KEPT / 2 - 1);
        assertThat(removals.remembersForMs())
                .as("as far back as the oldest that is left, k1")
                .isEqualTo(RecentRemovals.KEPT - 2);
    }

    @Test
    void aTermBeginsWithNothingAndSaysSinceWhenItRemembers() {
        removals.at(1_000);
        removals.beginTerm();
        removals.evicted(Key.of("a"));
        removals.purged();
        removals.at(5_000);
        assertThat(removals.remembersForMs()).isEqualTo(4_000);
        assertThat(removals.purgedForMs()).isEqualTo(4_000);

        removals.beginTerm();
        removals.at(6_000);

        assertThat(removals.fateOf(Key.of("a"))).isEqualTo(RecentRemovals.Fate.UNKNOWN);
        assertThat(removals.goneForMs(Key.of("a"))).isNegative();
        assertThat(removals.remembersForMs()).isEqualTo(1_000);
        assertThat(removals.purgedForMs()).isNegative();

        removals.removed(Key.of("a"));
        assertThat(removals.fateOf(Key.of("a"))).isEqualTo(RecentRemovals.Fate.REMOVED);
    }
}
