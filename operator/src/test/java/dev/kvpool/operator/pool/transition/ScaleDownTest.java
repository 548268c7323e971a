// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DrainSpec;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Storage nodes on their way out: none goes with something only it holds, unless the spec allows it. */
class ScaleDownTest {
    private static final int ENOUGH = 40;
    private static final DrainSpec DROP = new DrainSpec("1m", LeftoverPolicy.DROP, null);
    private static final DrainSpec WAIT = new DrainSpec("1m", LeftoverPolicy.WAIT, null);

    @Test
    void nothingIsDoneAboutNodesThatAreWanted() {
        DrainPool pool = new DrainPool(3).rounds(3);

        assertThat(pool.told).isEmpty();
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.NO_DRAIN);
    }

    @Test
    void aNodeThatAUserHasEmptiedIsNamed() {
        DrainPool pool = new DrainPool(3).rounds(3);
        pool.node("s-0").state = "draining";
        pool.node("s-0").left = 7L;
        pool.node("s-2").state = "drained";
        pool.node("s-2").left = 0L;

        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.EMPTIED_BY_HAND);
        assertThat(pool.plan().words().draining().message())
                .isEqualTo("s-0 is being emptied, s-2 is empty, as a user told the leader. They take no objects until"
                        + " kubectl kvpool drain, and the same with --cancel.");
        pool.rounds(3);
        assertThat(pool.told).as("it stays so").isEmpty();
    }

    @Test
    void aNodeIsEmptiedAndThenGoes() {
        DrainPool pool = new DrainPool(3).unwanted("s-2").rounds(ENOUGH);

        assertThat(pool.told)
                .as("in the end so that a later node of its name is not emptied")
                .containsExactly("empty s-2", "cancel s-2");
        assertThat(pool.gone).containsExactly("s-2 with 0");
        assertThat(pool.status()).isEmpty();
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.NO_DRAIN);
    }

    @Test
    void theLeaderIsToldOnlyOnceTheStatusSaysSoAndTheNodeGoesOnlyThenToo() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").round();
        assertThat(pool.told).isEmpty();
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");

        pool.round();
        assertThat(pool.told).containsExactly("empty s-1");

        pool.node("s-1").state = "drained";
        pool.node("s-1").left = 0L;
        pool.round();
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");
        assertThat(pool.gone).isEmpty();

        pool.round();
        assertThat(pool.gone).containsExactly("s-1 with 0");
    }

    /** Its set is in the spec no more, so that its settings stay as they are. */
    @Test
    void oneThatNeverGetsReadyWaitsForItsUserWhoIsToldWhatHelps() {
        DrainPool pool = new DrainPool(3).options(WAIT).unwanted("s-2");
        pool.node("s-2").keeps = true;
        pool.node("s-2").falls(7);
        pool.rounds(2).later(Duration.ofMinutes(2)).rounds(2);

        assertThat(pool.gone).isEmpty();
        assertThat(pool.plan().words().draining().message())
                .startsWith("s-2 could not be emptied in time: it is away")
                .endsWith(
                        " Let s-2 get ready, set spec.drain.onLeftovers to Drop, or take the change back; it is tried again.");

        pool.options(DROP).rounds(ENOUGH);
        assertThat(pool.gone).containsExactly("s-2 with everything");
    }

    /** Of those without room and those that are away each needs something else. */
    @Test
    void allWaysOutOfLeftoversAreNamed() {
        DrainPool pool = new DrainPool(4).options(WAIT).unwanted("s-3", "s-2");
        pool.node("s-3").falls(7);
        pool.node("s-2").stuck = 12;
        pool.rounds(ENOUGH);

        assertThat(pool.plan().words().draining().message())
                .contains(
                        " Make room, let s-3 get ready, set spec.drain.onLeftovers to Drop, or take the change back;");

        pool.led(false).paused(true).round();
        assertThat(pool.plan().words().draining().message()).contains(" Make room, let s-3 get ready,");
    }

    @Test
    void allThatAreToGoAreEmptiedAtOnceSoThatNothingIsMovedTwice() {
        DrainPool pool = new DrainPool(5).unwanted("s-4", "s-3", "s-2").rounds(2);

        assertThat(pool.told).containsExactly("empty s-4", "empty s-3", "empty s-2");
        assertThat(pool.gone).isEmpty();
    }

    @Test
    void moreThanTheBoundWaitForTheirTurn() {
        String[] all = IntStream.range(0, StepStatus.UNDER_WAY_MAX + 2)
                .mapToObj(i -> "s-" + i)
                .toArray(String[]::new);
        DrainPool pool = new DrainPool(all.length).unwanted(all).round();

        assertThat(pool.status()).hasSize(StepStatus.UNDER_WAY_MAX);
        pool.rounds(ENOUGH);
        assertThat(pool.nodes()).isEmpty();
    }

    @Test
    void aNewLeaderIsToldAgainAlsoAfterTheOldOneHadSaidItIsEmpty() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").rounds(2);
        pool.node("s-1").state = "drained";
        pool.node("s-1").left = 0L;
        pool.round().leaderChanges().round();

        assertThat(pool.gone).as("what the old leader said counts no more").isEmpty();
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
        pool.rounds(ENOUGH);
        assertThat(pool.told).containsExactly("empty s-1", "empty s-1", "cancel s-1");
        assertThat(pool.gone).containsExactly("s-1 with 0");
    }

    @Test
    void withoutALeaderNothingIsBegunAndNothingGoes() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").led(false).rounds(3);
        assertThat(pool.status()).isEmpty();
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.DRAIN_WAITS);
        assertThat(pool.plan().words().draining().message()).contains("s-1", "no master leads and serves");

        pool.led(true).rounds(3).led(false).rounds(3);
        assertThat(pool.gone).isEmpty();
        assertThat(pool.plan().words().draining().message()).contains("s-1 is being emptied", "no master leads");
    }

    @Test
    void aNodeThatHasGoneIsNotForgottenBeforeALeaderWasTold() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").rounds(2);
        pool.node("s-1").state = "drained";
        pool.node("s-1").left = 0L;
        pool.round().round();
        assertThat(pool.gone).containsExactly("s-1 with 0");

        pool.led(false).rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");

        pool.led(true).round();
        assertThat(pool.told).endsWith("cancel s-1");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void aStepOfAnUpgradeComesFirstAndADrainUnderWayGoesOn() {
        DrainPool pool = new DrainPool(3).unwanted("s-2").upgrading(true).rounds(3);
        assertThat(pool.told).isEmpty();
        assertThat(pool.plan().words().draining().message()).contains("a step of an upgrade comes first");

        pool.upgrading(false).rounds(2).upgrading(true).rounds(ENOUGH);
        assertThat(pool.gone).containsExactly("s-2 with 0");
    }

    @Test
    void aWishThatIsTakenBackCancelsAndTheNodeTakesPartAgain() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").rounds(2);
        assertThat(pool.node("s-1").state).isEqualTo("draining");

        pool.unwanted().rounds(1);
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.DRAIN_CANCELLED);
        pool.rounds(ENOUGH);

        assertThat(pool.node("s-1").state).isEqualTo("ready");
        assertThat(pool.told).startsWith("empty s-1", "cancel s-1").containsOnlyOnce("empty s-1");
        assertThat(pool.status()).isEmpty();
        assertThat(pool.gone).isEmpty();
    }

    @Test
    void aLeaderThatBeginsLateIsCancelledAgain() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").round().unwanted().round();
        pool.round();
        pool.node("s-1").state = "draining";
        pool.node("s-1").left = 5L;

        pool.rounds(ENOUGH);

        assertThat(pool.node("s-1").state).isEqualTo("ready");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void aCancelIsNotForgottenWhileNoLeaderCanBeTold() {
        DrainPool pool =
                new DrainPool(2).unwanted("s-1").rounds(2).unwanted().led(false).rounds(ENOUGH);
        assertThat(pool.phases()).containsExactly("s-1 TAKE_BACK");

        pool.led(true).rounds(ENOUGH);
        assertThat(pool.node("s-1").state).isEqualTo("ready");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void aWishThatComesBackBeginsAnew() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").rounds(2).unwanted().rounds(2);

        pool.unwanted("s-1").rounds(ENOUGH);

        assertThat(pool.gone).containsExactly("s-1 with 0");
    }

    @Test
    void leftoversAreWaitedForAndNamed() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").options(WAIT);
        pool.node("s-1").stuck = 12;
        pool.rounds(ENOUGH);

        assertThat(pool.gone).isEmpty();
        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.LEFTOVERS);
        assertThat(pool.plan().words().draining().message())
                .isEqualTo("s-1 could not be emptied in time, 12 objects of about 12Mi have no other place: no node has"
                        + " room. Make room, set spec.drain.onLeftovers to Drop, or take the change back; it is tried"
                        + " again.");
        StepStatus drain = pool.status().getFirst();
        assertThat(drain.objectsLeft()).isEqualTo(12);
        assertThat(drain.bytesLeft()).hasToString("12Mi");

        pool.node("s-1").stuck = 0;
        pool.rounds(ENOUGH);
        assertThat(pool.gone).containsExactly("s-1 with 0");
    }

    @Test
    void aDrainThatEndedAtTheMasterWithSomethingLeftIsBegunAgain() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").options(WAIT);
        pool.node("s-1").stuck = 1;
        pool.rounds(4);
        pool.timesOutAtTheMaster("s-1");

        pool.rounds(1);

        assertThat(pool.told).containsExactly("empty s-1", "empty s-1");
        assertThat(pool.gone).isEmpty();
    }

    @Test
    void leftoversAreDroppedAfterTheTimeoutWhereTheSpecSaysSo() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").options(DROP);
        pool.node("s-1").stuck = 12;
        pool.rounds(10);
        assertThat(pool.gone).as("before the timeout").isEmpty();

        pool.later(Duration.ofMinutes(1)).round();
        assertThat(pool.phases()).containsExactly("s-1 DROPPED");
        assertThat(pool.gone).isEmpty();

        pool.round();
        assertThat(pool.gone).containsExactly("s-1 with everything");
    }

    /** As where 150 GiB go over a slow network: five times the timeout, in which something is moved all the time. */
    @Test
    void aDrainThatMakesProgressIsGivenItsTime() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").options(DROP);
        pool.rounds(2);
        for (long left = 100; left > 0; left--) {
            pool.node("s-1").left = left;
            pool.later(Duration.ofSeconds(3)).round();
            assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
        }
        pool.node("s-1").stuck = 1;
        pool.later(Duration.ofMinutes(1)).round();

        assertThat(pool.phases()).containsExactly("s-1 DROPPED");
    }

    @Test
    void timeInWhichNoOperatorLookedDoesNotCount() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").options(DROP);
        pool.node("s-1").stuck = 12;
        pool.rounds(3);

        pool.unwatchedFor(Duration.ofHours(2)).round();
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");

        pool.later(Duration.ofMinutes(1)).round();
        assertThat(pool.phases()).containsExactly("s-1 DROPPED");
    }

    @Test
    void timeWithoutALeaderDoesNotCount() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").options(DROP);
        pool.node("s-1").stuck = 12;
        pool.rounds(3);

        pool.led(false).rounds(2).later(Duration.ofHours(2)).rounds(2);
        pool.led(true).rounds(1);

        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
    }

    @Test
    void oneThatNoLeaderCouldBeToldOfHasItsTimeAfterwards() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").options(DROP).round();

        pool.led(false).round().later(Duration.ofHours(2)).round().led(true).round();

        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
        pool.rounds(ENOUGH);
        assertThat(pool.gone).containsExactly("s-1 with 0");
    }

    @Test
    void droppingThatIsForbiddenAtTheLastMomentDoesNotHappen() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").options(DROP);
        pool.node("s-1").stuck = 12;
        pool.rounds(10).later(Duration.ofMinutes(2)).round();
        assertThat(pool.phases()).containsExactly("s-1 DROPPED");

        pool.options(WAIT).rounds(3);

        assertThat(pool.gone).isEmpty();
        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");
    }

    @Test
    void aNodeThatIsAwayIsWaitedForAndNotCalledEmpty() {
        DrainPool pool = new DrainPool(2).unwanted("s-1");
        pool.node("s-1").state = "away";
        pool.rounds(5);

        assertThat(pool.told).isEmpty();
        assertThat(pool.gone).isEmpty();
        assertThat(pool.plan().words().draining().message()).contains("it is away, no connection for 12 s");

        pool.node("s-1").state = "ready";
        pool.rounds(ENOUGH);
        assertThat(pool.gone).containsExactly("s-1 with 0");
    }

    @Test
    void aMasterThatDoesNotSayWhatIsLeftIsNotBelieved() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").rounds(1);
        pool.node("s-1").state = "drained";
        pool.node("s-1").left = null;

        assertThat(pool.plan().steps()).extracting(StepStatus::state).containsExactly(StepState.UNDER_WAY);
    }

    @Test
    void aPodThatNeverRanGoesAtOnce() {
        DrainPool pool = new DrainPool(2).unwanted("s-1");
        pool.node("s-1").holdsBytes = false;

        pool.round();

        assertThat(pool.nodes()).containsExactly("s-0");
        assertThat(pool.told).isEmpty();
    }

    @Test
    void whereTheSpecAllowsTheLossNodesGoAtOnceAlsoOutOfADrain() {
        DrainPool pool =
                new DrainPool(2).unwanted("s-1").rounds(2).mayLoseBytes().rounds(2);

        assertThat(pool.nodes()).containsExactly("s-0");
        assertThat(pool.told)
                .as("so that a later node of its name is not emptied")
                .containsExactly("empty s-1", "cancel s-1");
        assertThat(pool.status()).isEmpty();
    }
}
