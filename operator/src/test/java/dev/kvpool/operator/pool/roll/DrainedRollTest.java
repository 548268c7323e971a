// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static dev.kvpool.operator.pool.roll.RollTest.ENOUGH;
import static dev.kvpool.operator.pool.roll.RollTest.play;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Upgrades to what cannot read the segments there are. */
class DrainedRollTest {
    private static final String THIRD = "kvpool:3";

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
                        "delete s-0");
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aPodThatIsMadeAnewMayComeBackUnderAnotherName() {
        RollPool pool = upgrading();
        pool.node("s-0").ofDaemonSet = true;
        pool.node("s-1").ofDaemonSet = true;

        play(pool, 1);

        assertThat(pool.done).containsSubsequence("drain s-1", "delete s-1-1", "drain s-0", "delete s-0-1");
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aNodeThatCannotBeEmptiedEndsTheUpgradeAndTakesPutsAgainUnlessBytesMayBeLost() {
        RollPool pool = upgrading();
        pool.node("s-1").stays = 5;
        roundsUntilDrain(pool);
        pool.later(Duration.ofMinutes(2))
                .rounds(1)
                .later(Duration.ofMinutes(31))
                .rounds(ENOUGH);
        assertFailed(pool, "s-1 could not be emptied, 5 of its objects");
        assertThat(pool.done).doesNotContain("delete s-1").contains("take back s-1");

        RollPool careless = upgrading().mayLoseBytes();
        careless.node("s-1").stays = 5;
        roundsUntilDrain(careless);
        careless.later(Duration.ofMinutes(2)).rounds(1).later(Duration.ofMinutes(31));
        play(careless, 1);
        assertThat(careless.images()).containsExactly(NEW);
    }

    @Test
    void whatWentOverBeforeIsEmptiedOnItsWayBackForAsLongAsItTakes() {
        RollPool pool = upgrading();
        pool.node("s-0").stays = 5;
        while (!pool.node("s-1").running.equals(NEW)) {
            pool.round();
        }
        pool.node("s-1").objects = 50;
        pool.node("s-1").stays = 50;

        pool.rounds(ENOUGH).later(Duration.ofHours(1)).rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.GOING_BACK);
        assertThat(pool.node("s-0").takesPuts()).isTrue();
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.GOING_BACK);
        assertThat(pool.plan().finding().message())
                .contains("s-1 is emptied for as long as it takes", "add a storage node");

        pool.node("s-1").stays = 0;
        pool.rounds(ENOUGH);

        assertFailed(pool, "s-0 could not be emptied");
    }

    @Test
    void theTimeOfEmptyingIsThatOfDrainsAndNotThatOfASingleStep() {
        RollPool slow = upgrading();
        slow.node("s-1").takes = Duration.ofMinutes(25);
        roundsUntilDrain(slow);

        slow.later(Duration.ofMinutes(25));
        play(slow, 1);
        assertThat(slow.images()).containsExactly(NEW);

        RollPool tooSlow = upgrading();
        tooSlow.node("s-1").takes = Duration.ofMinutes(40);
        roundsUntilDrain(tooSlow);
        tooSlow.later(Duration.ofMinutes(31)).rounds(ENOUGH);
        assertFailed(tooSlow, "s-1 could not be emptied, 100 of its objects");
    }

    /** 40 times nearly the limit of drains passes, and a little has been moved each time. */
    @Test
    void anUpgradeGoesOnWhileEmptyingMakesProgress() {
        RollPool pool = upgrading();
        pool.node("s-1").takes = Duration.ofDays(30);
        roundsUntilDrain(pool);

        for (long left = 40; left > 0; left--) {
            pool.node("s-1").objectsLeft = left;
            pool.later(Duration.ofMinutes(29)).rounds(2);
            assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);
        }
        pool.later(Duration.ofMinutes(31)).rounds(ENOUGH);
        assertFailed(pool, "s-1 could not be emptied, 1 of its objects");
    }

    /** A day is the limit that leaders are told: what is left then is emptied by a further drain. */
    @Test
    void emptyingMayTakeLongerThanTheLimitOfTheLeader() {
        RollPool pool = upgrading();
        pool.node("s-1").takes = Duration.ofDays(30);
        roundsUntilDrain(pool);

        for (long left = 60; left > 0; left--) {
            pool.node("s-1").objectsLeft = left;
            pool.later(Duration.ofMinutes(29)).rounds(2);
            assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);
        }
    }

    @Test
    void timeWithoutALeaderDoesNotCount() {
        RollPool pool = upgrading();
        pool.node("s-1").takes = Duration.ofMinutes(110);
        roundsUntilDrain(pool);

        pool.led(false).later(Duration.ofMinutes(90)).rounds(2).led(true).rounds(2);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);

        pool.later(Duration.ofMinutes(29));
        play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aLeaderThatNeverSaysHowFarItIsHasALimitToo() {
        RollPool pool = upgrading();
        pool.node("s-1").takes = Duration.ofMinutes(1);
        pool.node("s-1").leadersChange = Integer.MAX_VALUE;

        for (int minute = 0; minute < 60; minute++) {
            pool.later(Duration.ofMinutes(1)).rounds(2);
        }
        pool.rounds(ENOUGH);

        assertFailed(pool, "s-1 could not be emptied, 100 of its objects");
    }

    @ParameterizedTest(name = "{0} in step {1}")
    @CsvSource({"kvpool:1, EMPTY", "kvpool:1, REPLACE", "kvpool:3, EMPTY", "kvpool:3, REPLACE"})
    void aWishThatChangesWhileANodeIsEmptiedHasItTakePutsAgain(String image, StepKind kind) {
        RollPool pool = upgrading();
        pool.node("s-1").takes = Duration.ofSeconds(10);
        roundsUntilDrain(pool);
        while (pool.steps().getFirst().kind() != kind) {
            pool.round();
        }
        pool.preflight("refused").want(image);

        pool.rounds(ENOUGH);

        assertThat(pool.done).contains("take back s-1").doesNotContain("delete s-1");
        assertThat(pool.notTaking()).isZero();
        if (image.equals(THIRD)) {
            assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
            pool.want(OLD).rounds(ENOUGH);
        }
        assertThat(pool.status()).isEmpty();
        assertThat(pool.images()).containsExactly(OLD);
    }

    @Test
    void whoIsToTakePartAgainIsToldForAsLongAsAnOldAnswerMayBeSeen() {
        RollPool pool = upgrading();
        pool.node("s-1").takes = Duration.ofSeconds(10);
        roundsUntilDrain(pool);
        pool.want(OLD).rounds(2);
        pool.node("s-1").drain(pool.now(), Duration.ofMinutes(1)); // what it was told before reaches it now

        pool.rounds(ENOUGH);

        assertThat(pool.notTaking()).isZero();
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void whatFollowsAnUnfinishedDrainedUpgradeIsDrainedToo() {
        RollPool pool = upgrading();
        while (!pool.node("s-1").running.equals(NEW)) {
            pool.round();
        }
        pool.want(THIRD).preflight("rolling-warm");

        play(pool, 1);

        assertThat(pool.images()).containsExactly(THIRD);
        assertThat(pool.done).contains("drain s-0").doesNotContain("s-1 " + THIRD, "s-0 " + THIRD);
    }

    @ParameterizedTest(name = "{0} nodes, {1} may be away: {2} emptied at a time")
    @CsvSource({"1, 1, 1", "2, 2, 1", "3, 3, 1", "4, 4, 2", "5, 16, 2", "6, 2, 2"})
    void asManyStayAsAreEmptied(int nodes, int budget, int atATime) {
        RollPool pool = new RollPool(2, nodes)
                .want(NEW)
                .preflight("rolling-drained")
                .options(new UpgradeSpec(budget, 0, false, null, false, null));
        if (nodes == 1) {
            pool.node("s-0").objects = 0;
        }
        for (int i = 0; i < nodes; i++) {
            pool.node("s-" + i).takes = Duration.ofSeconds(10);
        }

        long most = 0;
        for (int round = 0; round < ENOUGH; round++) {
            pool.round();
            most = Math.max(most, pool.notTaking());
        }

        assertThat(most).isEqualTo(atATime);
        assertThat(pool.status()).isEmpty();
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void theOnlyNodeIsNotEmptiedWhileItHoldsSomething() {
        RollPool pool =
                new RollPool(2, 1).want(NEW).preflight("rolling-drained").rounds(20);

        assertThat(pool.done).isEmpty();
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.plan().finding().message())
                .contains("s-0 would have to be emptied, and there is no other", "spec.onDataLoss");

        pool.mayLoseBytes().later(Duration.ofMinutes(5));
        play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    /** It had not been ready, and held nothing, so that it was to be restarted; then it got ready and took part. */
    @Test
    void oneThatHoldsSomethingByNowIsEmptiedBeforeItGoesBack() {
        RollPool pool = upgrading();
        while (!pool.node("s-1").running.equals(NEW)) {
            pool.round();
        }
        pool.node("s-1").neverReady = true;
        pool.want(OLD);
        while (pool.steps().stream().noneMatch(step -> step.of().equals("s-1") && step.kind() == StepKind.RESTART)) {
            pool.round();
        }
        pool.node("s-1").neverReady = false;
        pool.node("s-1").ready = true;
        pool.node("s-1").objects = 5;

        pool.rounds(ENOUGH);

        assertThat(pool.unread()).isEmpty();
        assertThat(pool.status()).isEmpty();
        assertThat(pool.images()).containsExactly(OLD);
    }

    /** The set did not say yet which image it was to have. */
    @Test
    void oneThatWasMadeWithTheOtherImageAndTookPartIsEmptiedBeforeItGoesBack() {
        RollPool pool = upgrading();
        while (pool.steps().stream().noneMatch(step -> step.kind() == StepKind.REPLACE)) {
            pool.round();
        }
        pool.node("s-1").neverReady = true;
        pool.round();
        assertThat(pool.node("s-1").running).isEqualTo(NEW);
        pool.want(OLD).rounds(1);
        pool.node("s-1").neverReady = false;
        pool.node("s-1").ready = true;
        pool.node("s-1").objects = 5;

        pool.rounds(ENOUGH);

        assertThat(pool.unread()).isEmpty();
        assertThat(pool.status()).isEmpty();
        assertThat(pool.images()).containsExactly(OLD);
    }

    /** It would wait for good, without a word of why. */
    @Test
    void oneOfWhichNoPodCanBeCreatedWhileItIsEmptiedFailsTheUpgrade() {
        RollPool pool = upgrading();
        pool.node("s-1").takes = Duration.ofMinutes(20);
        roundsUntilDrain(pool);

        pool.refused("s-1", "exceeded quota")
                .rounds(1)
                .later(Duration.ofMinutes(9))
                .rounds(1);
        pool.otherLeader().rounds(1);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);
        pool.later(Duration.ofMinutes(2)).rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.status().orElseThrow().reason()).isEqualTo("s-1 did not get ready within 10m (exceeded quota)");
    }

    /** The leader had nothing to move it to for a while, which is no fault of the pod that is evicted then. */
    @Test
    void theTimeForANewPodBeginsWhenTheOldOneIsMissed() {
        RollPool pool = upgrading();
        pool.node("s-1").takes = Duration.ofDays(1);
        roundsUntilDrain(pool);
        pool.later(Duration.ofMinutes(12)).rounds(1);

        pool.refused("s-1", "").rounds(1).later(Duration.ofMinutes(9)).rounds(1);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);
        pool.later(Duration.ofMinutes(2)).rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.status().orElseThrow().reason()).isEqualTo("s-1 did not get ready within 10m");
    }

    /** It would be deleted, and refused, and so would one after the other. */
    @Test
    void theWayBackDeletesNoneWhileThereIsOneForWhichNoPodCanBeCreated() {
        RollPool pool = new RollPool(2, 4).want(NEW).preflight("rolling-drained");
        pool.node("s-1").takes = Duration.ofDays(1);
        while (!pool.done.contains("drain s-1")) {
            pool.round();
        }
        pool.refused("s-1", "exceeded quota").rounds(1).later(Duration.ofMinutes(11));
        pool.done.clear();
        for (int hour = 0; hour < 3; hour++) {
            pool.rounds(ENOUGH).later(Duration.ofHours(1));
        }

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.GOING_BACK);
        assertThat(pool.done).noneMatch(act -> act.matches("(drain|delete) s-.*"));
        assertThat(pool.plan().finding().message()).contains("storage node s-1 has no pod (exceeded quota)");

        pool.node("s-1").takes = Duration.ZERO;
        pool.admitted("s-1").rounds(ENOUGH);

        assertFailed(pool, "s-1 did not get ready within 10m (exceeded quota)");
        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.unread()).isEmpty();
    }

    /** The step that gave it time to get ready began with what the new image had put there, which the earlier one cannot read. */
    @Test
    void oneThatFellAfterItTookPartIsNotGivenTheEarlierImageWithWhatItHolds() {
        RollPool pool = new RollPool(2, 3)
                .options(new UpgradeSpec(2, 0, false, null, false, null))
                .want(NEW)
                .preflight("rolling-drained");
        pool.node("s-0").takes = Duration.ofDays(1);
        pool.node("s-1").takes = Duration.ofDays(1);
        while (!pool.node("s-2").running.equals(NEW) || !pool.node("s-2").ready) {
            pool.round();
        }
        pool.rounds(2).node("s-2").objects = 5;
        pool.node("s-2").neverReady = true;
        pool.rounds(3);
        assertThat(pool.steps())
                .filteredOn(step -> step.of().equals("s-2"))
                .extracting(StepStatus::kind)
                .containsExactly(StepKind.RESTART);
        pool.later(Duration.ofMinutes(11)).rounds(ENOUGH);

        assertThat(pool.unread()).isEmpty();
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.GOING_BACK);
        assertThat(pool.plan().finding().message()).contains("what it holds may be unreadable for the other image");

        pool.node("s-2").neverReady = false;
        pool.rounds(ENOUGH);

        assertThat(pool.unread()).isEmpty();
        assertThat(pool.images()).containsExactly(OLD);
    }

    /** A master before whose turn others would come, and a storage node that takes all of the budget. */
    @ParameterizedTest
    @ValueSource(strings = {"s-0", "m-1"})
    void othersWaitForOneWithoutAPodForTheTimeOfAStep(String refused) {
        RollPool pool = new RollPool(2, 3)
                .want(NEW)
                .preflight("rolling-drained")
                .refused(refused, "exceeded quota")
                .rounds(ENOUGH);

        assertThat(pool.plan().finding().message()).contains(refused + " has no pod (exceeded quota)");
        assertThat(pool.images()).containsExactly(OLD);

        pool.later(Duration.ofMinutes(11)).rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.status().orElseThrow().reason())
                .isEqualTo(refused + " did not get ready within 10m (exceeded quota)");
        assertThat(pool.images()).containsExactly(OLD);
    }

    @Test
    void oneWithoutAPodThatLeavesRoomForOthersFailsNothing() {
        RollPool pool = new RollPool(2, 3)
                .options(new UpgradeSpec(2, 0, false, null, false, null))
                .want(NEW)
                .preflight("rolling-drained")
                .refused("s-0", "exceeded quota")
                .rounds(ENOUGH);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.stable()).isEqualTo(NEW);
        assertThat(List.of(pool.node("s-1").running, pool.node("s-2").running)).containsOnly(NEW);
    }

    /** One that is not created meanwhile comes with the earlier image, when it comes. */
    @Test
    void theWayBackDoesNotWaitForAMasterForWhichNoPodCanBeCreated() {
        RollPool pool = new RollPool(2, 3).want(NEW).preflight("rolling-warm");
        while (!pool.node("s-2").running.equals(NEW)) {
            pool.round();
        }
        pool.refused("m-1", "exceeded quota").want(OLD).rounds(ENOUGH);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.imagesOfStorage()).containsExactly(OLD);
        assertThat(pool.node("m-0").running).isEqualTo(OLD);
    }

    private static void assertFailed(RollPool pool, String why) {
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.status().orElseThrow().reason()).contains(why);
        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.notTaking()).as("nodes that take nothing new").isZero();
    }

    private static void roundsUntilDrain(RollPool pool) {
        while (!pool.done.contains("drain s-1")) {
            pool.round();
        }
    }

    private static RollPool upgrading() {
        return new RollPool(2, 2).want(NEW).preflight("rolling-drained");
    }
}
