// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DrainSpec;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Storage nodes that a user wants empty: they stay so until the user takes that back or the pod is another one, and nothing is dropped. */
class RequestedDrainsTest {
    private static final DrainSpec DROP = new DrainSpec("1m", LeftoverPolicy.DROP, "5m");

    @Test
    void oneIsEmptiedAndStaysSoUntilTheRequestIsTakenBack() {
        DrainPool pool = new DrainPool(3).requested("s-1").rounds(3);
        assertThat(pool.status()).extracting(StepStatus::because).containsExactly(StepCause.REQUEST);
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.EMPTYING);
        assertThat(pool.plan().words().draining().message()).startsWith("s-1 is being emptied, as a user asked");

        pool.rounds(40).later(Duration.ofDays(1)).rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.EMPTIED_BY_HAND);
        assertThat(pool.plan().words().draining().message())
                .isEqualTo(
                        "s-1 is empty, as a user asked, and takes no objects until kubectl kvpool drain with --cancel.");
        assertThat(pool.plan().evictable()).isEmpty();
        assertThat(pool.cordoned("k-1").rounds(1).plan().evictable()).containsExactly("s-1");
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.MAY_BE_EVICTED);
        assertThat(pool.cordoned().rounds(1).plan().evictable()).isEmpty();
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.EMPTIED_BY_HAND);
        assertThat(pool.told).containsExactly("empty s-1");

        pool.requested().rounds(6);
        assertThat(pool.told).startsWith("empty s-1").endsWith("cancel s-1");
        assertThat(pool.status()).isEmpty();
        assertThat(pool.node("s-1").state).isEqualTo("ready");
    }

    /** The step that waited again was forgotten with its request, and the leader went on emptying a storage node of which no step said so. */
    @ParameterizedTest
    @CsvSource({"draining, true", "draining, false", "away, true"})
    void oneThatHasToWaitAgainTakesPartWhenTheRequestIsTakenBack(String state, boolean led) {
        DrainPool pool = new DrainPool(2).requested("s-1").rounds(20);
        pool.node("s-1").state = "draining";
        pool.node("s-1").left = 3L;
        pool.node("s-0").state = "away";
        pool.round();
        assertThat(pool.phases()).containsExactly("s-1 WAITING");

        pool.node("s-1").state = state;
        pool.requested().led(led).round();
        assertThat(pool.phases()).containsExactly("s-1 TAKE_BACK");

        pool.led(true).rounds(6);
        assertThat(pool.told).startsWith("empty s-1").endsWith("cancel s-1");
        assertThat(pool.node("s-1").state).isNotEqualTo("draining");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void theNextPodTakesPartAndTheRequestIsOver() {
        DrainPool pool = new DrainPool(3).requested("s-1").cordoned("k-1").rounds(20);
        pool.evicting(true).rounds(1);
        assertThat(pool.evicted).containsExactly("s-1 with 0");

        pool.cordoned().evicting(false).starts().rounds(20);
        assertThat(pool.status()).isEmpty();
        assertThat(pool.node("s-1").state).isEqualTo("ready");
    }

    @Test
    void nothingIsDroppedForItHoweverLongItTakes() {
        DrainPool pool = new DrainPool(3).options(DROP).requested("s-1");
        pool.node("s-1").stuck = 7;
        pool.rounds(10).later(Duration.ofHours(1)).rounds(10);

        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");
        assertThat(pool.plan().words().draining().message())
                .endsWith(
                        "Make room, or take the request back with kubectl kvpool drain and --cancel; it is tried again.");
        assertThat(pool.plan().evictable()).isEmpty();
    }

    /** It had leftovers for longer than the cordon has to wait: a kubectl drain that began would have lost them at once. */
    @Test
    void besideACordonTheTimeOfTheCordonCounts() {
        DrainPool pool = new DrainPool(3).options(DROP).requested("s-1");
        pool.node("s-1").stuck = 7;
        pool.rounds(10).later(Duration.ofHours(1)).rounds(1).cordoned("k-1").rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
        assertThat(pool.plan().evictable()).isEmpty();

        pool.later(Duration.ofMinutes(2)).rounds(1);
        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");
        assertThat(pool.plan().words().draining().message()).contains("or wait for spec.drain.nodeTimeout");

        pool.later(Duration.ofMinutes(4)).rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 DROPPED");
        assertThat(pool.plan().evictable()).containsExactly("s-1");
        pool.cordoned().rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void withoutTheRequestWhatAVolumeKeepsIsKeptOnACordonedNode(boolean perNode) {
        DrainPool pool = new DrainPool(3).cordoned("k-1").requested("s-1");
        pool.node("s-1").keeps = true;
        pool.node("s-1").perNode = perNode;
        pool.rounds(20);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");

        pool.requested().rounds(1);
        assertThat(pool.phases()).containsExactly("s-1 TAKE_BACK");
        pool.rounds(6);
        assertThat(pool.node("s-1").state).isEqualTo("ready");
        assertThat(pool.phases()).isEqualTo(perNode ? List.of() : List.of("s-1 KEPT"));
        assertThat(pool.told).startsWith("empty s-1").endsWith("cancel s-1");
    }

    /** Kubernetes takes away the last one, whichever is empty. */
    @Test
    void aPoolThatShrinksKeepsWhatHasNoOtherPlaceUntilTheRequestIsTakenBack() {
        DrainPool pool = new DrainPool(2).options(DROP).requested("s-0").rounds(20);
        pool.unwanted("s-1").rounds(3).later(Duration.ofHours(1)).rounds(3);
        assertThat(pool.gone).isEmpty();
        assertThat(pool.node("s-1").state).isEqualTo("ready");
        assertThat(pool.plan().waits())
                .extracting(Wait::sentence)
                .containsExactly(
                        "no other storage node is ready to take what it holds while a user wants s-0 to be empty");

        pool.requested().rounds(30);
        assertThat(pool.gone).containsExactly("s-1 with 0");
        assertThat(pool.status()).isEmpty();
    }

    /** Its pod would never be changed, and the pool keep the turn from all others. */
    @Test
    void whatStandsForMonthsTakesNoTurn() {
        DrainPool pool = new DrainPool(2).requested("s-1").rounds(20);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");
        assertThat(pool.plan().takesTurn()).isFalse();
    }

    @Test
    void nothingIsDroppedForWantOfANodeThatAUserKeepsEmpty() {
        DrainPool pool = new DrainPool(3).options(DROP).requested("s-0").rounds(20);
        assertThat(pool.phases()).containsExactly("s-0 EMPTY");
        pool.node("s-2").stuck = 5;

        pool.unwanted("s-2").rounds(12).later(Duration.ofHours(1)).rounds(3);
        assertThat(pool.phases()).containsExactly("s-0 EMPTY", "s-2 LEFTOVERS");
        assertThat(pool.gone).isEmpty();

        pool.requested().rounds(3).later(Duration.ofHours(1)).rounds(40);
        assertThat(pool.gone)
                .as("when that is taken back the time for it counts")
                .containsExactly("s-2 with everything");
    }

    @Test
    void whatWouldComeBackWithThePodIsMovedToo() {
        DrainPool pool = new DrainPool(3).requested("s-1");
        pool.node("s-1").keeps = true;
        pool.rounds(20);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");

        pool.cordoned("k-1").rounds(3);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");
    }

    /** A user finds out during the maintenance that the Kubernetes node will not come back. */
    @Test
    void theTimeInWhichItsVolumeWasKeptDoesNotCount() {
        DrainPool pool = new DrainPool(3).options(DROP).cordoned("k-1");
        pool.node("s-1").keeps = true;
        pool.rounds(3).later(Duration.ofHours(1)).rounds(1);
        assertThat(pool.phases()).containsExactly("s-1 KEPT");
        assertThat(pool.plan().evictable()).containsExactly("s-1");

        pool.requested("s-1").rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
        assertThat(pool.plan().evictable()).isEmpty();
        pool.rounds(40);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");
    }

    @Test
    void someOthersRemainThatTakeObjects() {
        DrainPool pool = new DrainPool(3).requested("s-0", "s-1", "s-2").rounds(40);

        assertThat(pool.told).containsExactly("empty s-0", "empty s-1");
        assertThat(pool.plan().waits())
                .extracting(Wait::sentence)
                .contains("no other storage node is ready to take what it holds");
    }

    @Test
    void oneThatWaitsInVainKeepsNothingElseFromItsNode() {
        DrainPool pool = new DrainPool(3).requested("s-0", "s-1", "s-2").rounds(40);
        pool.node("s-2").keeps = true;
        pool.outdated("s-2").rounds(2);
        assertThat(pool.madeAnew).isEmpty();

        pool.later(Duration.ofHours(1)).rounds(2);
        assertThat(pool.told).containsExactly("empty s-0", "empty s-1");
        assertThat(pool.madeAnew).singleElement().asString().startsWith("s-2");
    }

    @Test
    void oneThatHasWaitedInVainBeginsBeforeAllElseOnceItCan() {
        DrainPool pool = new DrainPool(2).requested("s-1");
        pool.node("s-1").keeps = true;
        pool.node("s-0").state = "away";
        pool.rounds(3).later(Duration.ofHours(1)).rounds(1);
        assertThat(pool.told).isEmpty();

        pool.node("s-0").state = "ready";
        pool.outdated("s-1").rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
        assertThat(pool.madeAnew).isEmpty();
    }

    @Test
    void oneOnADeadMachineTakesNoRoomFromOthers() {
        DrainPool pool = new DrainPool(3).requested("s-0").rounds(1);
        pool.node("s-0").dead = true;
        pool.node("s-0").state = "away";
        pool.rounds(3).later(Duration.ofHours(1)).rounds(1);
        assertThat(pool.phases()).containsExactly("s-0 LEFTOVERS");

        pool.requested("s-0", "s-1").rounds(20);
        assertThat(pool.phases()).containsExactlyInAnyOrder("s-0 LEFTOVERS", "s-1 EMPTY");
    }

    @Test
    void oneThatGoesForGoodHasItsDeadlineWhateverIsAskedOfIt() {
        DrainPool pool = new DrainPool(3).options(DROP).unwanted("s-2");
        pool.node("s-2").stuck = 7;
        pool.rounds(10);
        for (int i = 0; i < 4; i++) {
            pool.requested("s-2").later(Duration.ofSeconds(10)).rounds(1);
            pool.requested().later(Duration.ofSeconds(10)).rounds(1);
        }
        pool.rounds(1);

        assertThat(pool.gone).containsExactly("s-2 with everything");
    }

    @Test
    void anUpgradeThatIsUnderWayComesFirst() {
        DrainPool pool = new DrainPool(3).upgrading(true).requested("s-1").rounds(3);
        assertThat(pool.told).isEmpty();
        assertThat(pool.plan().words().draining().message())
                .isEqualTo("s-1 is to be empty, as a user asked, and waits: a step of an upgrade comes first.");

        pool.upgrading(false).rounds(3);
        assertThat(pool.told).containsExactly("empty s-1");
    }

    @Test
    void oneWithEarlierSettingsIsReplacedOnceItIsEmpty() {
        DrainPool pool = new DrainPool(3).outdated("s-1").requested("s-1").rounds(20);
        assertThat(pool.told).containsExactly("empty s-1");
        assertThat(pool.madeAnew).containsExactly("s-1 with 0");

        pool.starts().rounds(10);
        assertThat(pool.madeAnew).hasSize(1);
        assertThat(pool.status()).isEmpty();
        assertThat(pool.node("s-1").state).isEqualTo("ready");
    }

    @Test
    void oneWithEarlierSettingsThatCannotBeEmptiedIsNotBegunAgainAndAgain() {
        DrainPool pool = new DrainPool(3).options(DROP).outdated("s-1").requested("s-1");
        pool.node("s-1").stuck = 7;
        pool.rounds(10).later(Duration.ofHours(1)).rounds(40);

        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");
        assertThat(pool.told).doesNotContain("cancel s-1");
        assertThat(pool.madeAnew).isEmpty();
    }

    @Test
    void aSpecThatCannotBeCarriedOutDoesNotMatterAndAPauseDoes() {
        assertThat(new DrainPool(3).specCounts(false).requested("s-1").rounds(3).told)
                .containsExactly("empty s-1");
        assertThat(new DrainPool(3).paused(true).requested("s-1").rounds(3).told)
                .isEmpty();
    }
}
