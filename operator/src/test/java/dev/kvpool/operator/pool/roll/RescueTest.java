// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static dev.kvpool.operator.pool.roll.RollTest.ENOUGH;
import static dev.kvpool.operator.pool.roll.RollTest.play;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.RollPhase;
import dev.kvpool.api.v1alpha1.RollStatus;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Pools whose masters do not run get another image all the same. */
class RescueTest {
    @Test
    void aBrokenMasterIsNotAskedAndGoesFirst() {
        RollPool pool = upgrading().bad("broken");
        pool.master("m-1").runNow("broken");
        pool.preflight("").rounds(3);

        assertThat(pool.plan().preflight()).contains(new PreflightQuestion(NEW, List.of("m-0")));
        assertThat(pool.plan().finding().message()).contains("without asking m-1, which does not run");

        pool.preflight("rolling-warm");
        play(pool, 1);

        assertThat(pool.done).startsWith("m-1 " + NEW, "hand over m-0");
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aPoolThatWasNeverLedTakesAnotherImageAtOnce() {
        RollPool pool = new RollPool(2, 2).neverLed().rounds(5);

        pool.want("kvpool:0").bad("kvpool:0").rounds(5).want(NEW).rounds(10);

        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.mastersAway()).isZero();
        assertThat(pool.status()).isEmpty();
        assertThat(pool.stable()).isEqualTo(NEW);
        assertThat(pool.done).doesNotContain("delete s-0", "delete s-1");
    }

    @Test
    void mastersThatDoNotRunTakeTheImageUnaskedAndStorageNodesOnlyAfterThePreflight() {
        RollPool pool = new RollPool(2, 2).bad(OLD).rounds(5).want(NEW).rounds(20);
        assertThat(pool.done).isEmpty();
        assertThat(pool.plan().finding().message()).contains("as no master runs: after 10m all masters take");

        pool.later(Duration.ofMinutes(10)).rounds(20);
        assertThat(pool.done).containsExactly("m-0 " + NEW, "m-1 " + NEW);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.PREFLIGHT);

        pool.preflight("rolling-warm").rounds(ENOUGH);
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void mastersWhoseNextImageDoesNotRunEitherTakeAThirdOne() {
        RollPool pool = upgrading().bad(OLD).bad(NEW).rounds(5);
        pool.later(Duration.ofMinutes(10)).rounds(5).want(OLD).rounds(5).want("kvpool:3");

        pool.later(Duration.ofMinutes(11))
                .rounds(5)
                .later(Duration.ofMinutes(11))
                .rounds(ENOUGH);

        assertThat(pool.images()).containsExactly("kvpool:3");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void aLeaderThatTookItsImageUnaskedIsAskedWhenItSeesTheStorageNodes() {
        RollPool pool = upgrading().rounds(1);
        pool.master("m-0").runNow(NEW);
        pool.master("m-0").knowsNot.add("s-1");

        pool.rounds(20);
        assertThat(pool.plan().preflightImage()).isEmpty();
        assertThat(pool.plan().finding().message()).contains("waits until the leader sees storage node s-1");

        pool.master("m-0").knowsNot.clear();
        play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    private static RollPool upgrading() {
        return new RollPool(2, 2).want(NEW).preflight("rolling-warm");
    }
}
