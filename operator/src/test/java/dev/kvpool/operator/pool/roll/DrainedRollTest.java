// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollTest.ENOUGH;
import static dev.kvpool.operator.pool.roll.RollTest.play;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Upgrades to what cannot read the segments there are. */
class DrainedRollTest {
    @Test
    void whenTheSegmentsCannotBeReadEachNodeIsEmptiedBefore() {
        RollPool pool = upgrading();
        pool.node("s-1").leadersChange = 1;

        play(pool, 1);

        assertThat(pool.done)
                .containsExactly(
                        "m-1 " + NEW,
                        "hand over m-0",
                        "m-0 " + NEW,
                        "drain s-1",
                        "drain s-1", // the leader after that left what others have too
                        "delete s-1",
                        "drain s-0",
                        "delete s-0",
                        "finalise 2 2");
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aPodThatIsMadeAnewMayComeBackUnderAnotherName() {
        RollPool pool = upgrading();
        pool.node("s-0").ofDaemonSet = true;
        pool.node("s-1").ofDaemonSet = true;

        play(pool, 1);

        assertThat(pool.done)
                .containsSubsequence("drain s-1", "delete s-1-1", "drain s-0", "delete s-0-1", "finalise 2 2");
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aNodeThatCannotBeEmptiedEndsTheUpgradeUnlessBytesMayBeLost() {
        RollPool pool = upgrading();
        pool.node("s-1").objectsLeft = 5L;
        pool.rounds(ENOUGH);
        assertThat(pool.status().orElseThrow().reason()).contains("s-1 could not be emptied, 5 of its objects");
        assertThat(pool.done).doesNotContain("delete s-1");

        RollPool careless = upgrading().mayLoseBytes();
        careless.node("s-1").objectsLeft = 5L;
        play(careless, 1);
        assertThat(careless.images()).containsExactly(NEW);
    }

    private static RollPool upgrading() {
        return new RollPool(2, 2).want(NEW).preflight("rolling-drained");
    }
}
