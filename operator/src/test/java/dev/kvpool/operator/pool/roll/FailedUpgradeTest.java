// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static dev.kvpool.operator.pool.roll.RollTest.ENOUGH;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How an upgrade that failed, or cannot begin, is tried again. */
class FailedUpgradeTest {
    private static final UpgradeSpec PAUSED = new UpgradeSpec(1, 0, true, null, false, null);

    @Test
    void anotherTextHasTheSameImageTriedAgain() {
        RollPool pool = failed().good(NEW);
        assertThat(pool.plan().finding().message()).endsWith("or try this one again with kubectl kvpool retry.");

        pool.retry("b").rounds(1);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.PREFLIGHT);
        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void theSameTextDoesSoOnce() {
        RollPool pool = failsAgain(failed().retry("b"));
        pool.good(NEW).rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.images()).containsExactly(OLD);
        pool.retry("c");
        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void whatWasAskedBeforeTheUpgradeBeganIsOver() {
        RollPool pool = failsAgain(new RollPool(2, 2)
                        .want(NEW)
                        .preflight("rolling-warm")
                        .bad(NEW)
                        .retry("from an upgrade long ago"))
                .good(NEW)
                .rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.images()).containsExactly(OLD);
    }

    @Test
    void aPauseIsNoRequestAndHoldsOneUp() {
        RollPool pool = failed().good(NEW)
                .options(PAUSED)
                .rounds(10)
                .options(RollPool.DEFAULTS)
                .rounds(ENOUGH);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);

        pool.options(PAUSED).retry("b").rounds(10);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.UPGRADE_PAUSED);
        assertThat(pool.plan().finding().message())
                .startsWith(
                        "The upgrade from kvpool:1 to kvpool:2 is tried again when spec.upgrade.paused is false. It came to"
                                + " nothing before: m-1 did not get ready");
        assertThat(pool.images()).containsExactly(OLD);

        pool.options(RollPool.DEFAULTS);
        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void oneThatWasRefusedIsAskedAgainAtOnce() {
        RollPool pool =
                new RollPool(2, 2).want(NEW).preflight("refused").rounds(20).preflight("rolling-warm");
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.plan().finding().message()).endsWith("and at once after kubectl kvpool retry.");

        pool.retry("b");
        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    /** The Job may not be gone yet, and would say again what it said. */
    @Test
    void anAnswerToTheFirstQuestionIsNoneToTheSecond() {
        RollPool pool = new RollPool(2, 2).want(NEW).preflight("refused").rounds(20);

        pool.preflight("rolling-warm").retry("b").jobStillSays("refused").rounds(1);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void nothingBeginsWhileRunningPodsCouldNotPullTheImage() {
        RollPool pool =
                new RollPool(2, 2).want(NEW).preflight("rolling-warm").unpullable("s-0 lacks a secret: the way out");

        pool.rounds(20);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.done).isEmpty();
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.VERSION_REFUSED);
        assertThat(pool.plan().finding().message()).endsWith("is not begun: s-0 lacks a secret: the way out.");
        pool.unpullable(null);
        RollTest.play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void norAfterAPreflightThatPulledItWithOtherSecrets() {
        RollPool pool =
                new RollPool(2, 2).want(NEW).preflight("rolling-warm").rounds(1).unpullable("s-0 lacks a secret");

        pool.rounds(20);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.done).isEmpty();
    }

    /** Masters that die of what a storage node of the new image sends are the case in which a pool must go back. */
    @Test
    void leadersThatChangeAllTheTimeDoNotKeepItFromFailing() {
        RollPool pool =
                new RollPool(3, 2).want(NEW).preflight("rolling-warm").bad(NEW).rounds(20);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);

        for (int change = 0; change < 3; change++) {
            pool.later(Duration.ofMinutes(5)).otherLeader().rounds(1);
        }

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.GOING_BACK);
    }

    /** Nothing was under way any more that could fail: the pool stayed between two images, or the upgrade was called finished. */
    @ParameterizedTest
    @ValueSource(strings = {"m-2", "s-1", "s-0"})
    void oneThatFallsAfterItsStepHasThePoolGoBack(String name) {
        RollPool pool = new RollPool(3, 2).want(NEW).preflight("rolling-warm");
        RollMember member = pool.node(name);
        for (int round = 0; round < ENOUGH && !(member.running.equals(NEW) && hasNoStep(pool, name)); round++) {
            pool.rounds(1);
        }
        member.neverReady = true;

        pool.rounds(5);
        assertThat(pool.status().map(RollStatus::phase))
                .isPresent()
                .get()
                .isIn(RollPhase.ROLLING, RollPhase.FINALISING);
        pool.later(Duration.ofMinutes(11)).rounds(3);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.GOING_BACK);
        assertThat(pool.status().orElseThrow().reason()).contains(name);
        member.neverReady = false;
        pool.rounds(ENOUGH);
        assertThat(pool.images()).containsExactly(OLD);
    }

    @ParameterizedTest
    @ValueSource(strings = {"m-2", "s-1", "s-0"})
    void oneThatFallsForAWhileHoldsTheUpgradeUpForAsLong(String name) {
        RollPool pool = new RollPool(3, 2).want(NEW).preflight("rolling-warm");
        RollMember member = pool.node(name);
        for (int round = 0; round < ENOUGH && !(member.running.equals(NEW) && hasNoStep(pool, name)); round++) {
            pool.rounds(1);
        }
        member.neverReady = true;
        pool.rounds(20);
        assertThat(pool.status()).isPresent();

        member.neverReady = false;
        pool.rounds(ENOUGH);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.images()).containsExactly(NEW);
    }

    /** It was ignored without a word, while a storage node was restarted with an image that it cannot run any more. */
    @Test
    void aThirdImageIsTakenUpWhenTheWayBackLeadsNowhere() {
        RollPool pool = new RollPool(2, 2).want(NEW).preflight("rolling-warm");
        RollMember node = pool.node("s-1");
        for (int round = 0; round < ENOUGH && !node.running.equals(NEW); round++) {
            pool.rounds(1);
        }
        node.neverReady = true;
        pool.rounds(3).later(Duration.ofMinutes(11)).rounds(3).want("kvpool:3");
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.GOING_BACK);
        assertThat(pool.plan().finding().message())
                .contains(
                        "kvpool:3 is taken up when the pool is back, or as soon as a step of the way back does not succeed");

        pool.rounds(20).later(Duration.ofMinutes(11)).rounds(1);
        assertThat(pool.status().map(RollStatus::image)).hasValue("kvpool:3");
        node.neverReady = false;
        pool.rounds(ENOUGH);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.images()).containsExactly("kvpool:3");
    }

    private static boolean hasNoStep(RollPool pool, String name) {
        return pool.steps().stream().noneMatch(step -> step.of().equals(name));
    }

    private static RollPool failed() {
        return failsAgain(new RollPool(2, 2).want(NEW).preflight("rolling-warm").bad(NEW));
    }

    private static RollPool failsAgain(RollPool pool) {
        pool.rounds(20).later(Duration.ofMinutes(10)).rounds(ENOUGH);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        return pool;
    }
}
