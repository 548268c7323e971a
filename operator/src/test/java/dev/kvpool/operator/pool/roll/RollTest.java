// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Upgrades from the wish to the end, and what ends them early. */
class RollTest {
    static final int ENOUGH = 200;

    @Test
    void aPoolThatRunsWhatItShallIsLeftAlone() {
        RollPool pool = new RollPool(2, 3);

        assertThat(pool.plan().next()).isEmpty();
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.NO_UPGRADE);
    }

    @Test
    void standbysThenTheHandoverThenTheLastMasterThenStorageOneByOne() {
        RollPool pool = upgrading(3, 3);

        play(pool, 1);

        assertThat(pool.done)
                .containsExactly(
                        "m-2 " + NEW,
                        "m-1 " + NEW,
                        "hand over m-0",
                        "m-0 " + NEW,
                        "s-2 " + NEW,
                        "s-1 " + NEW,
                        "s-0 " + NEW);
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.stable()).isEqualTo(NEW);
        assertThat(pool.leader()).isNotEqualTo("m-0");
    }

    @Test
    void aSingleMasterIsStartedAnewWithoutAHandover() {
        RollPool pool = upgrading(1, 1);

        play(pool, 1);

        assertThat(pool.done).containsExactly("m-0 " + NEW, "s-0 " + NEW);
    }

    /** Its step ended with the upgrade: its kubelet had not noticed the image yet, so that a master was restarted beside it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void aStorageNodeThatIsOnItsWayWhenThePoolGoesBackComesBeforeMasters(int rounds) {
        RollPool pool = onItsWay().rounds(rounds).want(OLD);

        play(pool, 1);

        assertThat(pool.done.stream().filter(it -> it.endsWith(OLD)))
                .as("%s", pool.done)
                .containsExactly("s-2 " + OLD, "m-0 " + OLD, "m-1 " + OLD);
        assertThat(pool.images()).containsExactly(OLD);
    }

    /** The cordon came to it while no step of the upgrade was there, and what it waits for is that the storage node is there again. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6})
    void neitherDoesACordonComeBetween(int rounds) {
        RollPool pool = onItsWay().rounds(rounds).want(OLD).cordoned("s-2").rounds(3);

        assertThat(pool.done).doesNotContain("drain s-2").contains("s-2 " + OLD);
    }

    /** No step of an upgrade was there any more, though the storage node had not even stopped. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void norDoesAnythingWhileAThirdImageIsChecked(int rounds) {
        RollPool pool = onItsWay().rounds(rounds).want("kvpool:3").preflight("").cordoned("s-2");
        for (int i = 0; i < 6; i++) {
            pool.round();
            assertThat(pool.steps()).extracting(StepStatus::of).containsExactly("s-2");
        }
        assertThat(pool.done).doesNotContain("drain s-2");

        pool.cordoned().rounds(30);
        assertThat(pool.steps()).isEmpty();
        play(pool.preflight("rolling-warm"), 1);
        assertThat(pool.images()).containsExactly("kvpool:3");
    }

    /** They were not ready, so that nothing was lost with either, and got ready before they were touched. */
    @Test
    void mastersThatGotReadyMeanwhileGoOneByOne() {
        RollPool pool = rolling(3, 1);
        pool.node("m-1").ready = false;
        pool.node("m-2").ready = false;
        pool.round();
        assertThat(pool.steps()).extracting(StepStatus::of).containsExactly("m-2", "m-1");

        pool.round();
        assertThat(pool.done).containsExactly("m-2 " + NEW);
        play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void storageNodesThatGotReadyMeanwhileGoWithinTheBudget() {
        RollPool pool = rolling(1, 4);
        while (!pool.imagesOfMasters().contains(NEW)) {
            pool.round();
        }
        pool.node("s-0").neverReady = true;
        List.of("s-0", "s-1", "s-2", "s-3").forEach(id -> pool.node(id).ready = false);
        pool.round();
        assertThat(pool.steps()).extracting(StepStatus::of).containsExactly("s-3", "s-2");

        int before = pool.done.size();
        pool.round();
        assertThat(pool.done).hasSize(before);
        pool.node("s-0").neverReady = false;
        play(pool, 2);
        assertThat(pool.images()).containsExactly(NEW);
    }

    /** The step of the upgrade had taken the place of the one that emptied it, and ended when the storage node ran, and still took nothing. */
    @Test
    void oneThatWasToBeEmptyWhenItWasRestartedTakesPartAfterwards() {
        RollPool pool = rolling(1, 3).cordoned("s-2");
        while (!pool.node("s-2").running.equals(NEW)) {
            pool.round();
        }
        // Leaders remember it beyond the restart.
        pool.node("s-2").drain(pool.now(), Duration.ofHours(24));

        pool.cordoned().rounds(ENOUGH);
        assertThat(pool.notTaking()).isZero();
        assertThat(pool.steps()).isEmpty();
        assertThat(pool.images()).containsExactly(NEW);
    }

    /** Nothing could be moved from either, and none was there to take it. */
    @Test
    void aRollbackBringsBackWhatIsNotReadyOnCordonedMachines() {
        RollPool pool = upgrading(1, 2)
                .options(new UpgradeSpec(1, 1, false, null, false, null))
                .rounds(40);
        assertThat(pool.imagesOfStorage()).containsExactlyInAnyOrder(OLD, NEW);
        List.of("s-0", "s-1").forEach(id -> pool.node(id).neverReady = true);
        pool.rounds(1).cordoned("s-0", "s-1").want(OLD).rounds(10);
        assertThat(pool.done).contains("s-1 " + OLD);

        List.of("s-0", "s-1").forEach(id -> pool.node(id).neverReady = false);
        play(pool.cordoned(), 2);
        assertThat(pool.images()).containsExactly(OLD);
    }

    @Test
    void storageNodesComeAfterALeaderThatAUserWantsToHandOverToo() {
        RollPool pool = upgrading(2, 2).failover(1);
        pool.node("m-1").runNow(NEW);
        pool.node("m-1").knowsNot.add("s-0");
        pool.rounds(20);
        assertThat(pool.done).isEmpty();

        pool.node("m-1").knowsNot.clear();
        play(pool, 1);
        assertThat(pool.done).containsExactly("hand over m-0", "m-0 " + NEW, "s-1 " + NEW, "s-0 " + NEW);
    }

    private static RollPool rolling(int masters, int storage) {
        RollPool pool = upgrading(masters, storage).options(new UpgradeSpec(2, 0, false, null, false, null));
        while (pool.status().filter(roll -> roll.phase() == RollPhase.ROLLING).isEmpty()) {
            pool.round();
        }
        return pool;
    }

    private static RollPool onItsWay() {
        RollPool pool = upgrading(2, 3);
        pool.node("s-2").roundsToNotice = 6;
        while (!pool.done.contains("s-2 " + NEW)) {
            pool.round();
        }
        return pool;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void neverMoreStorageNodesAreAwayThanTheBudgetAllows(int budget) {
        RollPool pool = upgrading(2, 5).options(new UpgradeSpec(budget, 0, false, null, false, null));

        assertThat(play(pool, budget)).as("%s", pool.done).isEqualTo(budget);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void nothingIsRestartedWhenThePreflightRefuses() {
        RollPool pool = new RollPool(2, 2).want(NEW).preflight("refused").rounds(20);

        assertThat(pool.done).isEmpty();
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.VERSION_REFUSED);
        assertThat(pool.plan().finding().message())
                .startsWith(
                        "The pool stays at kvpool:1 and nothing was restarted: kvpool:2 cannot follow it: because. Set"
                                + " spec.version or spec.image");
        assertThat(pool.plan().preflightImage()).isEmpty();
        assertThat(pool.stable()).isEqualTo(OLD);
    }

    @Test
    void whatIsRefusedInTheMiddleOfAnUpgradeSaysWhoRunsWhat() {
        RollPool pool = upgrading(2, 2).rounds(3).mastersRun(NEW);

        pool.want("kvpool:3").preflight("refused").rounds(10);

        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.VERSION_REFUSED);
        assertThat(pool.plan().finding().message())
                .startsWith(
                        "The pool stays as it is, with m-0, m-1 at kvpool:2 and everything else at kvpool:1: kvpool:3 cannot"
                                + " follow it: because.");
    }

    @Test
    void aRefusedImageIsAskedForAgainAfterAWhile() {
        RollPool pool = new RollPool(2, 2).want(NEW).preflight("refused").rounds(5);

        pool.preflight("rolling-warm").later(Duration.ofMinutes(5));
        play(pool, 1);

        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aPreflightThatDoesNotEndBlocks() {
        RollPool pool = new RollPool(2, 2).want(NEW).rounds(5);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.UPGRADING);

        pool.later(Duration.ofMinutes(11)).rounds(2);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.done).isEmpty();
    }

    @Test
    void aRefusedWishThatIsTakenBackLeavesNothing() {
        RollPool pool = new RollPool(2, 2).want(NEW).preflight("refused").rounds(5);

        pool.want(OLD).rounds(2);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.done).isEmpty();
    }

    @Test
    void aNodeThatLosesObjectsEndsTheUpgradeAndThePoolGoesBack() {
        RollPool pool = upgrading(2, 3);
        pool.node("s-1").losesAtReturn = 7L;

        pool.rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.UPGRADE_FAILED);
        assertThat(pool.plan().finding().message()).contains("s-1 came back without 7 of its objects", OLD, NEW);
        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.done).doesNotContain("s-0 " + NEW);
    }

    @Test
    void aLeaderThatCannotCompareIdsLeavesTheNumbers() {
        RollPool whole = upgrading(2, 1);
        whole.node("s-0").losesAtReturn = null;
        play(whole, 1);
        assertThat(whole.images()).containsExactly(NEW);

        RollPool torn = upgrading(2, 1);
        torn.node("s-0").losesAtReturn = null;
        torn.node("s-0").droppedAtReturn = 3;
        torn.rounds(ENOUGH);
        assertThat(torn.status().orElseThrow().reason()).contains("s-0 came back", "3 records dropped");
    }

    @Test
    void anImageThatDoesNotStartTimesOutAndTheBrokenPodGoesBackFirst() {
        RollPool pool = upgrading(2, 2).bad(NEW).rounds(20);
        assertThat(pool.done).containsExactly("m-1 " + NEW);

        pool.later(Duration.ofMinutes(10)).rounds(ENOUGH);

        assertThat(pool.done).containsExactly("m-1 " + NEW, "m-1 " + OLD);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.status().orElseThrow().reason()).contains("m-1 did not get ready within 10m", "crashes");
        assertThat(pool.images()).containsExactly(OLD);
    }

    /** The API server took no writes for longer than a step may take. */
    @Test
    void anImageThatCouldNotBeWrittenIsWrittenAfterwards() {
        RollPool pool = upgrading(2, 2)
                .refusesImages(true)
                .rounds(20)
                .later(Duration.ofMinutes(10))
                .rounds(2);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);
        assertThat(pool.steps())
                .extracting(StepStatus::waitsFor)
                .containsExactly("the API server did not change the image of m-1 within 10m");

        play(pool.refusesImages(false), 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void anImageThatIsRefusedAgainAndAgainEndsTheUpgrade() {
        RollPool pool = upgrading(2, 2)
                .refusesImages(true)
                .rounds(20)
                .later(Duration.ofMinutes(10))
                .rounds(2)
                .later(Duration.ofMinutes(10))
                .rounds(ENOUGH);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.status().orElseThrow().reason())
                .isEqualTo("the API server did not change the image of m-1 within 10m");
        assertThat(pool.images()).containsExactly(OLD);
    }

    @Test
    void timeWithoutAnOperatorIsNobodysFault() {
        RollPool pool =
                upgrading(2, 2).bad(NEW).rounds(20).later(Duration.ofHours(1)).newOperator();

        pool.rounds(20);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);

        pool.later(Duration.ofMinutes(10)).rounds(ENOUGH);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
    }

    @Test
    void aFailedImageIsTriedAgainOnlyAfterAnotherWish() {
        RollPool pool = upgrading(2, 2).bad(NEW).rounds(20).later(Duration.ofMinutes(10));
        pool.rounds(ENOUGH).good(NEW);
        int before = pool.done.size();
        pool.rounds(20);
        assertThat(pool.done).hasSize(before);

        pool.want(OLD).rounds(2);
        assertThat(pool.status()).isEmpty();
        pool.want(NEW);
        play(pool, 1);

        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aLeadershipThatNobodyTakesEndsTheUpgrade() {
        RollPool pool = upgrading(2, 2).nobodyTakesTheLeadership();

        pool.rounds(ENOUGH);

        assertThat(pool.status().orElseThrow().reason()).contains("no other master took the leadership");
        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.leader()).isEqualTo("m-0");
    }

    @Test
    void aWishTakenBackInTheMiddleGoesBackWithTheSameCare() {
        RollPool pool = upgrading(2, 4);
        while (!pool.done.contains("s-2 " + NEW)) {
            pool.round();
        }

        pool.want(OLD);
        play(pool, 1);

        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.status()).isEmpty();
        assertThat(pool.done).doesNotContain("s-1 " + NEW);
    }

    @Test
    void aPausedUpgradeFinishesItsStepAndBeginsNoOther() {
        RollPool pool = upgrading(2, 3);
        while (!pool.done.contains("s-2 " + NEW)) {
            pool.round();
        }

        pool.options(new UpgradeSpec(1, 0, true, null, false, null)).rounds(50);

        assertThat(pool.done).endsWith("s-2 " + NEW);
        assertThat(pool.storageAway()).isZero();
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.UPGRADE_PAUSED);
        pool.options(RollPool.DEFAULTS);
        play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aPartitionKeepsTheFirstStorageNodesUntilItIsLifted() {
        RollPool pool = upgrading(2, 3).options(new UpgradeSpec(1, 2, false, null, false, null));

        pool.rounds(100);

        assertThat(pool.done).contains("s-2 " + NEW).doesNotContain("s-1 " + NEW, "s-0 " + NEW);
        assertThat(pool.stable()).isEqualTo(OLD);
        assertThat(pool.plan().finding().message()).contains("The first 2 storage nodes keep the version");
        pool.options(RollPool.DEFAULTS);
        play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.stable()).isEqualTo(NEW);
    }

    @Test
    void aStorageNodeOnACordonedNodeIsEmptiedBeforeTheNextStep() {
        RollPool held = upgrading(1, 3).cordoned("s-0", "s-1", "s-2").rounds(20);

        assertThat(held.done).contains("drain s-0").noneMatch(deed -> deed.endsWith(NEW));
        assertThat(held.plan().finding().message())
                .contains("It waits: storage node s-2 is emptied first, as its Kubernetes node is cordoned.");

        play(held.cordoned(), 1);
        assertThat(held.images()).containsExactly(NEW);
    }

    @Test
    void whatIsBrokenAnywayGoesFirst() {
        RollPool pool = upgrading(2, 3);
        pool.bad("broken");
        pool.node("s-0").runNow("broken");

        pool.rounds(ENOUGH);

        assertThat(pool.done).startsWith("s-0 " + NEW, "m-1 " + NEW);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aPoolThatNeverRanTakesTheImageAtOnce() {
        RollPool pool = new RollPool(2, 2).want(NEW);
        for (String name : Set.of("m-0", "m-1")) {
            pool.master(name).started = false;
        }
        for (String name : Set.of("s-0", "s-1")) {
            pool.node(name).started = false;
        }

        RollPlan plan = pool.plan();

        assertThat(plan.actions()).hasSize(4);
        assertThat(plan.next()).isEmpty();
        assertThat(plan.preflightImage()).isEmpty();
        assertThat(plan.mastersImage()).isEqualTo(NEW);
    }

    @Test
    void anOperatorThatMayChangeNothingKeepsWhatItKnows() {
        RollPool pool = upgrading(2, 3).rounds(20);

        RollPlan plan = Roll.rest(pool.view());

        assertThat(plan.next()).isEqualTo(pool.status());
        assertThat(plan.actions()).isEmpty();
        assertThat(plan.finding().reason()).isEqualTo(Reason.UPGRADE_PAUSED);
    }

    @Test
    void anOperatorMayDieAfterItActedAtAnyPoint() {
        int whole = roundsOf(upgrading(2, 3));
        for (int death = 0; death < whole; death++) {
            RollPool pool = upgrading(2, 3).rounds(death);

            pool.roundCutShort();
            pool.roundCutShort();
            play(pool, 1);

            assertThat(pool.images()).as("death in round %d", death).containsExactly(NEW);
        }
    }

    @Test
    void aStatusThatIsOlderThanTheStoredOneDoesNoHarm() {
        int whole = roundsOf(upgrading(2, 3));
        for (int lag = 0; lag < whole; lag++) {
            RollPool pool = upgrading(2, 3).rounds(lag);
            RollPool.Stored stale = pool.stored();
            pool.round();

            pool.roundWithStaleStatus(stale);
            pool.roundWithStaleStatus(stale);
            play(pool, 1);

            assertThat(pool.images()).as("stale since round %d", lag).containsExactly(NEW);
        }
    }

    private static RollPool upgrading(int masters, int nodes) {
        return new RollPool(masters, nodes).want(NEW).preflight("rolling-warm");
    }

    private static int roundsOf(RollPool pool) {
        for (int round = 1; round < ENOUGH; round++) {
            pool.round();
            if (pool.status().isEmpty() && pool.stable().equals(NEW)) {
                return round;
            }
        }
        throw new AssertionError("the upgrade does not end: " + pool.plan());
    }

    /** Plays until nothing changes any more; gives the highest number of storage nodes that were away at a time. */
    static long play(RollPool pool, int budget) {
        long most = 0;
        for (int round = 0; round < ENOUGH; round++) {
            pool.round();
            most = Math.max(most, pool.storageAway());
            assertThat(pool.storageAway())
                    .as("storage nodes away after %s", pool.done)
                    .isLessThanOrEqualTo(budget);
            assertThat(pool.mastersAway())
                    .as("masters away after %s", pool.done)
                    .isLessThanOrEqualTo(1);
            assertThat(pool.mastersAway() > 0 && pool.storageAway() > 0)
                    .as("masters and storage away after %s", pool.done)
                    .isFalse();
        }
        assertThat(pool.status()).isEmpty();
        assertThat(pool.steps()).as("at rest").isEmpty();
        return most;
    }
}
