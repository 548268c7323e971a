// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static dev.kvpool.operator.pool.roll.RollTest.ENOUGH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepKind;
import java.time.Duration;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Steps that are under way when what they compare is gone from the status. No gate of an upgrade may be skipped by that. */
class LostFactsTest {
    @Test
    void theLastRestartIsStillAwaited() {
        RollPool pool = lostAfter(upgrading("rolling-warm"), "s-0 " + NEW);
        pool.node("s-0").neverReady = true;

        pool.rounds(ENOUGH);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);

        pool.later(Duration.ofMinutes(10)).rounds(1);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.GOING_BACK);
        assertThat(pool.status().orElseThrow().reason()).contains("s-0 did not get ready within 10m");
    }

    @Test
    void theProcessBeforeIsNotTakenForTheOther() {
        RollPool pool = upgrading("rolling-warm");
        pool.node("s-0").roundsToNotice = 5;
        lostAfter(pool, "s-0 " + NEW).rounds(3);

        assertThat(pool.node("s-0").running).isEqualTo(OLD);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);
    }

    @Test
    void aRestartThatGoesWellEnds() {
        RollPool pool = lostAfter(upgrading("rolling-warm"), "m-1 " + NEW);
        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);

        RollPool storage = lostAfter(upgrading("rolling-warm"), "s-1 " + NEW);
        RollTest.play(storage, 1);
        assertThat(storage.images()).containsExactly(NEW);
    }

    @Test
    void aLossIsStillSeen() {
        RollPool pool = upgrading("rolling-warm");
        pool.node("s-0").losesAtReturn = 5L;

        lostAfter(pool, "s-0 " + NEW).rounds(ENOUGH);

        assertThat(pool.status().orElseThrow().reason()).contains("s-0 came back without 5 of its objects");
    }

    @Test
    void aRestartThatHadNotBegunIsPlannedAgain() {
        RollPool pool = until(upgrading("rolling-warm"), it -> has(it, StepKind.RESTART, "s-1"));
        pool.losesFacts();

        RollTest.play(pool, 1);

        assertThat(pool.done).containsOnlyOnce("s-1 " + NEW);
        assertThat(pool.images()).containsExactly(NEW);
    }

    /** It used to be asked at every look, until the time of the step was over. */
    @Test
    void aHandoverIsAskedForOnce() {
        RollPool pool = upgrading("rolling-warm").nobodyTakesTheLeadership();
        until(pool, it -> has(it, StepKind.HAND_OVER, "m-0")).losesFacts();

        pool.rounds(10);

        assertThat(pool.done).containsOnlyOnce("hand over m-0");
        assertThat(pool.status().orElseThrow().reason()).contains("no other master took the leadership");
    }

    @Test
    void anEmptyNodeWhosePodIsStillTheOneBeforeTakesPartAgain() {
        RollPool pool = replacing().losesFacts();

        pool.round();
        assertThat(has(pool, StepKind.TAKE_BACK, "s-1")).isTrue();

        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.notTaking()).isZero();
    }

    /** It used to stay drained for ever, as its leader remembers that it goes. */
    @Test
    void anotherPodOfAnEmptiedNodeTakesPartAgain() {
        RollPool pool = lostAfter(replacing(), "delete s-1");
        pool.node("s-1").drain(pool.now(), Duration.ofHours(24));

        pool.rounds(1);
        assertThat(pool.done).endsWith("take back s-1");

        pool.rounds(ENOUGH);
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.notTaking()).isZero();
    }

    @Test
    void anotherPodOfAnEmptiedNodeIsStillAwaited() {
        RollPool pool = until(upgrading("rolling-drained"), it -> has(it, StepKind.REPLACE, "s-0"));
        lostAfter(pool, "delete s-0");
        pool.node("s-0").neverReady = true;
        pool.node("s-0").ready = false;

        pool.rounds(ENOUGH);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);

        pool.later(Duration.ofMinutes(10)).rounds(1);
        assertThat(pool.status().orElseThrow().reason()).contains("s-0 did not get ready within 10m");
    }

    @Test
    void anEmptyNodeTakesPartAgainWhenTheUpgradeIsTakenBack() {
        RollPool pool = replacing().losesFacts().want(OLD);

        pool.rounds(ENOUGH);

        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.notTaking()).isZero();
    }

    private static RollPool upgrading(String verdict) {
        return new RollPool(2, 2).want(NEW).preflight(verdict);
    }

    private static RollPool replacing() {
        return until(upgrading("rolling-drained"), pool -> has(pool, StepKind.REPLACE, "s-1"));
    }

    private static RollPool lostAfter(RollPool pool, String action) {
        return until(pool, it -> it.done.contains(action)).losesFacts();
    }

    private static RollPool until(RollPool pool, Predicate<RollPool> reached) {
        for (int round = 0; round < ENOUGH && !reached.test(pool); round++) {
            pool.round();
        }
        assertThat(reached).accepts(pool);
        return pool;
    }

    private static boolean has(RollPool pool, StepKind kind, String of) {
        return pool.steps().stream()
                .anyMatch(step -> step.kind() == kind && step.of().equals(of));
    }
}
