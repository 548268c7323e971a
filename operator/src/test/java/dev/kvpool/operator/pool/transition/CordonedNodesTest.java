// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DrainSpec;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Storage nodes whose Kubernetes nodes are cordoned: evicted when nothing is lost with them, and not kept for ever. */
class CordonedNodesTest {
    private static final int ENOUGH = 40;
    private static final DrainSpec PATIENT = new DrainSpec("1m", LeftoverPolicy.WAIT, "1440m");
    private static final DrainSpec FIVE_MINUTES = new DrainSpec("1m", LeftoverPolicy.WAIT, "5m");

    /** It is away as soon as its pod ends, and leaders remember what they emptied. */
    @Test
    void oneThatIsBeingEvictedTakesPartAgainWithItsNextPod() {
        DrainPool pool = new DrainPool(3).cordoned("k-1").rounds(20);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");

        pool.node("s-1").ending = true;
        pool.node("s-1").state = "away";
        pool.rounds(3);
        pool.node("s-1").ending = false;
        pool.node("s-1").state = "drained";
        pool.node("s-1").host = "elsewhere";
        pool.rounds(10);

        assertThat(pool.node("s-1").state).isEqualTo("ready");
    }

    @Test
    void oneWithEarlierSettingsIsEmptiedOnceAndThenReplaced() {
        DrainPool pool = new DrainPool(3).outdated("s-1").cordoned("k-1").rounds(20);

        assertThat(pool.told).containsExactly("empty s-1");
        assertThat(pool.madeAnew).containsExactly("s-1 with 0");
    }

    @Test
    void oneIsEmptiedThenMayBeEvictedAndThenTakesPartElsewhere() {
        DrainPool pool = new DrainPool(3).cordoned("k-2").evicting(true);
        for (int round = 0; round < ENOUGH && pool.evicted.isEmpty(); round++) {
            pool.rounds(1);
        }
        pool.rounds(1);

        assertThat(pool.evicted).containsExactly("s-2 with 0");
        assertThat(pool.phases()).containsExactly("s-2 TAKE_BACK");
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.DRAIN_CANCELLED);
        assertThat(pool.plan().words().draining().message()).isEqualTo("s-2 takes part again with its next pod.");

        pool.starts().rounds(4);
        assertThat(pool.told)
                .startsWith("empty s-2")
                .containsOnlyOnce("empty s-2")
                .endsWith("cancel s-2");
        assertThat(pool.status()).isEmpty();
        assertThat(pool.gone).as("the spec wants it").isEmpty();
        assertThat(pool.node("s-2").state).isEqualTo("ready");
    }

    @Test
    void itMayBeEvictedOnlyOnceTheStatusSaysThatItIsEmptyAndOthersNever() {
        DrainPool pool = new DrainPool(2).cordoned("k-1").rounds(2);
        pool.node("s-1").state = "drained";
        pool.node("s-1").left = 0L;

        assertThat(pool.plan().evictable()).isEmpty();
        pool.round();
        assertThat(pool.plan().evictable()).containsExactly("s-1");
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.MAY_BE_EVICTED);
        assertThat(pool.plan().words().draining().message())
                .isEqualTo("s-1 is empty, and its pod may be evicted from k-1.");
        assertThat(pool.plan().released()).isEmpty();
    }

    @Test
    void uncordonedInTheMiddleItStaysAndTakesPartAgain() {
        DrainPool pool = new DrainPool(2).cordoned("k-1").rounds(3);
        assertThat(pool.node("s-1").state).isEqualTo("draining");

        pool.cordoned().evicting(true).round();
        assertThat(pool.phases()).containsExactly("s-1 TAKE_BACK");
        pool.rounds(ENOUGH);

        assertThat(pool.told).startsWith("empty s-1", "cancel s-1").containsOnlyOnce("empty s-1");
        assertThat(pool.node("s-1").state).isEqualTo("ready");
        assertThat(pool.status()).isEmpty();
        assertThat(pool.evicted).isEmpty();
    }

    @Test
    void uncordonedWhenItWasEmptyItMayNotBeEvictedAnyMore() {
        DrainPool pool = new DrainPool(2).cordoned("k-1").rounds(ENOUGH);
        assertThat(pool.plan().evictable()).containsExactly("s-1");

        pool.cordoned();

        assertThat(pool.plan().evictable()).isEmpty();
        pool.rounds(ENOUGH);
        assertThat(pool.node("s-1").state).isEqualTo("ready");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void asManyStayAsAreEmptiedAlsoWhenAllNodesAreCordonedAtOnce() {
        DrainPool four = new DrainPool(4).cordoned("k-0", "k-1", "k-2", "k-3").rounds(2);
        assertThat(four.told).containsExactly("empty s-0", "empty s-1");

        DrainPool two = new DrainPool(2).cordoned("k-0", "k-1").rounds(2);
        assertThat(two.told).containsExactly("empty s-0");
        assertThat(two.phases()).containsExactly("s-0 UNDER_WAY", "s-1 WAITING");
        assertThat(two.status().get(1).waitsFor()).isEqualTo("no other storage node is ready to take what it holds");

        two.evicting(true);
        for (int i = 0; i < ENOUGH; i++) {
            two.rounds(1).starts();
        }
        assertThat(two.evicted).containsExactly("s-0 with 0", "s-1 with 0");
        assertThat(two.status()).isEmpty();
    }

    @Test
    void theOnlyOneServesUntilItsTimeIsOver() {
        DrainPool pool = new DrainPool(1).cordoned("k-0").evicting(true).rounds(3);
        assertThat(pool.told).as("or nothing could be put").isEmpty();
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.DRAIN_WAITS);
        assertThat(pool.plan().words().draining().message())
                .isEqualTo("s-0 is on k-0, which is cordoned, and waits: no other storage node is ready to take what it"
                        + " holds. After spec.drain.nodeTimeout a pod may be evicted all the same.");

        pool.later(Duration.ofMinutes(29)).rounds(3);
        assertThat(pool.evicted).isEmpty();
        pool.later(Duration.ofMinutes(1)).round();
        assertThat(pool.phases()).containsExactly("s-0 DROPPED");
        pool.round();
        assertThat(pool.evicted).containsExactly("s-0 with everything");
    }

    /** Those that came later, and are before them by name, took their place in the status, and with it the time that they had waited. */
    @Test
    void theTimeOfOnesThatWaitGoesOnWhereMoreWaitThanTheStatusLists() {
        int nodes = StepStatus.STEPS_MAX + 20;
        String[] all = IntStream.range(0, nodes).mapToObj(i -> "k-" + i).toArray(String[]::new);
        String[] last =
                IntStream.range(nodes - 10, nodes).mapToObj(i -> "k-" + i).toArray(String[]::new);
        DrainPool pool = new DrainPool(nodes).options(FIVE_MINUTES).led(false).cordoned(last);
        pool.rounds(2)
                .later(Duration.ofMinutes(3))
                .cordoned(all)
                .rounds(2)
                .later(Duration.ofMinutes(2))
                .rounds(2);

        assertThat(pool.plan().steps()).hasSizeLessThanOrEqualTo(StepStatus.STEPS_MAX);
        assertThat(pool.plan().evictable())
                .containsExactlyInAnyOrder(IntStream.range(nodes - 10, nodes)
                        .mapToObj(i -> "s-" + i)
                        .toArray(String[]::new));
    }

    @Test
    void leftoversAreToldAndDoNotBlockTheMaintenanceForEver() {
        DrainPool pool = new DrainPool(2).cordoned("k-1").options(FIVE_MINUTES).evicting(true);
        pool.node("s-1").stuck = 12;
        pool.rounds(ENOUGH);

        assertThat(pool.evicted).isEmpty();
        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");
        assertThat(pool.plan().words().draining().message())
                .isEqualTo(
                        "s-1 could not be emptied in time, and its node k-1 is cordoned, 12 objects of about 12Mi have"
                                + " no other place: no node has room. Make room, uncordon the node, or wait for"
                                + " spec.drain.nodeTimeout, after which the pod may be evicted with what is left; it is tried again.");

        pool.later(Duration.ofMinutes(5)).round();
        assertThat(pool.phases()).containsExactly("s-1 DROPPED");
        pool.round();
        assertThat(pool.evicted).containsExactly("s-1 with everything");
    }

    @Test
    void whatWaitsForAnUpgradeIsNotDroppedForThat() {
        DrainPool pool = new DrainPool(3).unwanted("s-1").cordoned("k-1").upgrading(true);
        pool.options(new DrainSpec("1m", LeftoverPolicy.DROP, "1440m"))
                .rounds(2)
                .later(Duration.ofMinutes(5))
                .rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 WAITING");

        pool.upgrading(false).rounds(ENOUGH);

        assertThat(pool.gone).containsExactly("s-1 with 0");
    }

    @Test
    void theTimeOfOneThatIsAwayBeginsWhenItsWaitIsOver() {
        DrainPool pool = new DrainPool(3).unwanted("s-1").cordoned("k-1").upgrading(true);
        pool.options(new DrainSpec("1m", LeftoverPolicy.DROP, "1440m")).rounds(2);
        pool.node("s-1").state = "away";
        pool.later(Duration.ofMinutes(5)).rounds(2).upgrading(false).rounds(3);
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");

        pool.later(Duration.ofMinutes(1)).round();
        assertThat(pool.phases()).containsExactly("s-1 DROPPED");
    }

    @Test
    void timeInWhichThePoolIsPausedDoesNotCount() {
        DrainPool pool =
                new DrainPool(1).cordoned("k-0").evicting(true).rounds(3).paused(true);
        for (int minute = 0; minute < 60; minute++) {
            pool.later(Duration.ofMinutes(1)).round();
        }

        pool.paused(false).rounds(3);

        assertThat(pool.phases()).containsExactly("s-0 WAITING");
        assertThat(pool.evicted).isEmpty();
    }

    @Test
    void maintenanceDoesNotWaitForALeaderForEver() {
        DrainPool pool = new DrainPool(2).cordoned("k-1").rounds(2).led(false).rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");

        pool.later(Duration.ofMinutes(30)).rounds(2);

        assertThat(pool.plan().evictable()).containsExactly("s-1");
    }

    @Test
    void aTaintThatCountsAsACordonIsNamed() {
        DrainPool pool =
                new DrainPool(2).cordoned("k-1").tainted("t.example/gone").options(FIVE_MINUTES);
        pool.node("s-1").stuck = 12;
        pool.rounds(3);
        assertThat(pool.plan().words().draining().message())
                .startsWith("s-1 is being emptied, because its node k-1 has taint t.example/gone, ");

        pool.rounds(ENOUGH);

        assertThat(pool.plan().words().draining().message())
                .startsWith("s-1 could not be emptied in time, and its node k-1 has taint t.example/gone, ")
                .contains("Make room, remove taint t.example/gone from the node, or wait for")
                .doesNotContain("cordon");
    }

    @Test
    void whatMayGoAsItIsIsEmptiedAllTheSameUntilSomebodyEvictsIt() {
        DrainPool pool = new DrainPool(2).cordoned("k-1").options(FIVE_MINUTES);
        pool.node("s-1").stuck = 1;
        pool.rounds(ENOUGH).later(Duration.ofMinutes(5)).rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 DROPPED");

        pool.node("s-1").stuck = 0;
        pool.rounds(3);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");
        assertThat(pool.plan().evictable()).containsExactly("s-1");
    }

    @Test
    void aNewLeaderIsToldAgainAndUntilItSaysSoNothingMayBeEvicted() {
        DrainPool pool = new DrainPool(2).cordoned("k-1").rounds(ENOUGH).later(Duration.ofHours(3));
        pool.led(false).round();
        assertThat(pool.plan().evictable()).isEmpty();
        assertThat(pool.phases()).as("nothing says anything else").containsExactly("s-1 EMPTY");

        pool.led(true).leaderChanges().round();
        assertThat(pool.phases()).as("with time of its own").containsExactly("s-1 UNDER_WAY");
        assertThat(pool.plan().evictable()).isEmpty();
        pool.evicting(true).rounds(ENOUGH);
        assertThat(pool.evicted).containsExactly("s-1 with 0");
    }

    @Test
    void aStepOfAnUpgradeComesFirstAndTheTimeCountsMeanwhile() {
        DrainPool pool = new DrainPool(2).cordoned("k-1").upgrading(true).rounds(3);
        assertThat(pool.told).isEmpty();
        assertThat(pool.phases()).containsExactly("s-1 WAITING");

        pool.upgrading(false).rounds(2);
        assertThat(pool.told).containsExactly("empty s-1");
    }

    @Test
    void oneThatTheSpecDoesNotWantAnyMoreGoesAlsoFromThere() {
        DrainPool pool = new DrainPool(2).unwanted("s-1").cordoned("k-1").rounds(ENOUGH);
        assertThat(pool.gone).containsExactly("s-1 with 0");

        DrainPool stuck = new DrainPool(2).unwanted("s-1").options(FIVE_MINUTES);
        stuck.node("s-1").stuck = 1;
        stuck.rounds(2).later(Duration.ofDays(2)).rounds(2).cordoned("k-1").rounds(5);
        assertThat(stuck.gone).as("the time counts from the cordon").isEmpty();
        stuck.later(Duration.ofMinutes(5)).rounds(2);
        assertThat(stuck.gone).hasSize(1);
    }

    @Test
    void whatLiesOnAVolumeOfItsOwnIsNotMovedAndOneAtATimeMayBeEvicted() {
        DrainPool pool = new DrainPool(3).cordoned("k-1", "k-2");
        pool.node("s-1").keeps = true;
        pool.node("s-2").keeps = true;
        pool.rounds(3);

        assertThat(pool.phases()).containsExactly("s-1 KEPT", "s-2 WAITING");
        assertThat(pool.plan().evictable()).containsExactly("s-1");
        pool.evicting(true).rounds(ENOUGH);
        assertThat(pool.evicted).as("while s-1 is away").containsExactly("s-1 with its volume");
        for (int i = 0; i < 5; i++) {
            pool.starts().rounds(1);
        }
        assertThat(pool.evicted).containsExactly("s-1 with its volume", "s-2 with its volume");
        assertThat(pool.told).noneMatch(told -> told.startsWith("empty"));
    }

    @Test
    void moreOfThemMayBeAwayWhereTheSpecSaysSoAndAllWhenTheirTimeIsOver() {
        DrainPool pool = new DrainPool(4).cordoned("k-1", "k-2", "k-3").maxUnavailable(2);
        IntStream.range(1, 4).forEach(i -> pool.node("s-" + i).keeps = true);

        pool.rounds(3);
        assertThat(pool.plan().evictable()).containsExactlyInAnyOrder("s-1", "s-2");
        pool.later(Duration.ofMinutes(30)).rounds(2);
        assertThat(pool.plan().evictable()).containsExactlyInAnyOrder("s-1", "s-2", "s-3");
    }

    @Test
    void onesThatNobodyEvictsAreEmptiedAndNeverDropped() {
        DrainPool pool = new DrainPool(2).cordoned("k-1").options(FIVE_MINUTES);
        pool.node("s-1").perNode = true;
        pool.node("s-1").stuck = 1;
        pool.rounds(ENOUGH).later(Duration.ofDays(1)).rounds(2);
        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");

        pool.node("s-1").stuck = 0;
        pool.rounds(3);
        assertThat(pool.phases()).containsExactly("s-1 EMPTY");
    }

    @Test
    void aPodThatNeverRanMayBeEvictedAtOnce() {
        DrainPool pool = new DrainPool(2).cordoned("k-1");
        pool.node("s-1").holdsBytes = false;

        assertThat(pool.plan().evictable()).containsExactly("s-1");
        assertThat(pool.plan().steps()).isEmpty();
    }

    @Test
    void aSpecThatCannotBeCarriedOutDoesNotBlockTheMaintenance() {
        DrainPool pool = new DrainPool(4).unwanted("s-3").rounds(2).specCounts(false);
        pool.cordoned("k-1").evicting(true).rounds(ENOUGH).starts().rounds(4);

        assertThat(pool.evicted).containsExactly("s-1 with 0");
        assertThat(pool.gone).isEmpty();
        assertThat(pool.phases()).containsExactly("s-3 UNDER_WAY");
    }

    static IntStream seeds() {
        return IntStream.range(0, 200);
    }

    /** Kubernetes nodes are cordoned and uncordoned, leaders change, steps of upgrades come between: nothing is lost. */
    @ParameterizedTest
    @MethodSource("seeds")
    void nothingIsEvictedWithSomethingInItAndEverybodyIsServedInTheEnd(int seed) {
        Random random = new Random(seed);
        int nodes = 1 + random.nextInt(6);
        DrainPool pool = new DrainPool(nodes).options(PATIENT);
        for (int round = 0; round < 200; round++) {
            String[] cordoned = IntStream.range(0, nodes)
                    .filter(i -> pool.cordonedHosts().contains("k-" + i) != (random.nextInt(20) == 0))
                    .mapToObj(i -> "k-" + i)
                    .toArray(String[]::new);
            pool.cordoned(cordoned).evicting(random.nextBoolean());
            pool.led(random.nextInt(8) != 0).upgrading(random.nextInt(8) == 0);
            if (random.nextInt(15) == 0) {
                pool.leaderChanges();
            }
            pool.rounds(1);
            if (random.nextInt(3) == 0) {
                pool.starts();
            }
            assertThat(pool.evicted).allMatch(it -> it.endsWith(" with 0"));
            assertThat(pool.nodes())
                    .as("somebody takes what is moved and put")
                    .anyMatch(id -> !pool.node(id).state.startsWith("drain"));
        }
        pool.led(true).upgrading(false).evicting(true);
        for (int round = 0; round < 200; round++) {
            pool.rounds(1).starts();
        }
        assertThat(pool.nodes())
                .allMatch(id -> nodes == 1 || !pool.cordonedHosts().contains(pool.node(id).host));
        pool.cordoned().rounds(5);
        assertThat(pool.status()).isEmpty();
        assertThat(pool.nodes()).allMatch(id -> pool.node(id).state.equals("ready"));
    }
}
