// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DrainSpec;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Storage nodes that are to come back with other settings: emptied one after the other, and nothing is lost with them. */
class MoveTest {
    private static final int ENOUGH = 40;
    private static final DrainSpec DROP = new DrainSpec("1m", LeftoverPolicy.DROP, null);
    private static final DrainSpec WAIT = new DrainSpec("1m", LeftoverPolicy.WAIT, "1440m");

    @Test
    void onePodThatIsEndingIsStillBeingReplaced() {
        DrainPool pool = new DrainPool(3).endsSlowly().outdated("s-1").rounds(20);

        assertThat(pool.node("s-1").ending).isTrue();
        assertThat(pool.phases()).containsExactly("s-1 REPLACE");
    }

    @Test
    void oneAfterTheOtherIsEmptiedMadeAnewAndTakesPartAgain() {
        DrainPool pool = new DrainPool(3).outdated("s-0", "s-1", "s-2");
        for (int round = 0; round < 3 * ENOUGH; round++) {
            pool.rounds(1);
            assertThat(pool.nodes().stream().filter(id -> !pool.node(id).state.equals("ready")))
                    .as("away or leaving")
                    .hasSizeLessThanOrEqualTo(1);
            if (round % 3 == 0) {
                pool.starts();
            }
        }

        assertThat(pool.madeAnew).containsExactly("s-2 with 0", "s-1 with 0", "s-0 with 0");
        assertThat(pool.gone).isEmpty();
        assertThat(pool.status()).isEmpty();
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.NO_DRAIN);
    }

    /** Those that are to go cannot take what others hold, nor the other way round. */
    @ParameterizedTest(name = "of {0}, all but four of which are full")
    @ValueSource(ints = {4, 5})
    void whereAllAreEmptiedThoseThatStayTakePartUntilTheOthersAreGone(int nodes) {
        DrainPool pool = new DrainPool(nodes).options(WAIT).maxUnavailable(2).outdated("s-0", "s-1");
        pool.nodes().forEach(id -> pool.node(id).stuck = 5);
        pool.rounds(3);
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY", "s-0 UNDER_WAY");

        pool.unwanted("s-2", "s-3").rounds(12).later(Duration.ofMinutes(2)).rounds(2);
        assertThat(pool.phases()).contains("s-0 TAKE_BACK", "s-1 TAKE_BACK");
        pool.rounds(6);
        assertThat(pool.node("s-0").state).isEqualTo("ready");

        pool.nodes().forEach(id -> pool.node(id).stuck = 0);
        for (int round = 0; round < ENOUGH; round++) {
            pool.rounds(2).starts();
        }
        assertThat(pool.gone).containsExactlyInAnyOrder("s-2 with 0", "s-3 with 0");
        assertThat(pool.madeAnew).containsExactlyInAnyOrder("s-1 with 0", "s-0 with 0");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void oneThatWasTakenBackComesWhenTheOtherHasGone() {
        DrainPool pool = new DrainPool(4).options(WAIT).maxUnavailable(1).outdated("s-0");
        pool.nodes().forEach(id -> pool.node(id).stuck = 5);
        pool.rounds(3);
        assertThat(pool.phases()).containsExactly("s-0 UNDER_WAY");

        pool.unwanted("s-3").rounds(12).later(Duration.ofMinutes(2)).rounds(2);
        assertThat(pool.phases()).contains("s-0 TAKE_BACK");
        pool.rounds(ENOUGH).later(Duration.ofHours(1)).rounds(ENOUGH);
        assertThat(pool.phases()).containsExactly("s-3 LEFTOVERS");
        assertThat(pool.plan().waits().toString())
                .contains("s-0")
                .contains("s-3 goes first, and what is left on it needs room");

        pool.nodes().forEach(id -> pool.node(id).stuck = 0);
        for (int round = 0; round < ENOUGH; round++) {
            pool.rounds(2).starts();
        }
        assertThat(pool.gone).containsExactly("s-3 with 0");
        assertThat(pool.madeAnew).containsExactly("s-0 with 0");
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void theNextOneWaitsUntilTheOneBeforeServes() {
        DrainPool pool = new DrainPool(3).outdated("s-0", "s-1");
        for (int round = 0; round < ENOUGH && pool.madeAnew.isEmpty(); round++) {
            pool.rounds(1);
        }
        assertThat(pool.round().phases()).containsExactly("s-1 REPLACE");
        assertThat(pool.plan().words().draining().message())
                .isEqualTo(
                        "s-0 is to be emptied and waits: the budget of spec.upgrade.maxUnavailable, as s-1 is being restarted or recreated.");

        pool.rounds(ENOUGH);
        assertThat(pool.phases()).as("it does not serve").containsExactly("s-1 REPLACE");

        pool.starts().rounds(1);
        assertThat(pool.phases()).containsExactly("s-0 UNDER_WAY");
    }

    /** It cannot be emptied, as it is not there, and holds nothing, as it never was. */
    @Test
    void oneThatNeverCameBackIsReplacedWithTheNextSettings() {
        DrainPool pool = new DrainPool(3).outdated("s-1");
        for (int round = 0; round < ENOUGH && pool.madeAnew.isEmpty(); round++) {
            pool.rounds(1);
        }
        pool.rounds(2).later(Duration.ofMinutes(11)).rounds(2);
        assertThat(pool.status()).extracting(StepStatus::state).containsExactly(StepState.FAILED);

        pool.outdated("s-1").rounds(3).starts().rounds(3);

        assertThat(pool.madeAnew).containsExactly("s-1 with 0", "s-1 with everything");
        assertThat(pool.status()).isEmpty();
    }

    /** It was replaced as one that is not there, beside which others may be away. */
    @Test
    void oneThatComesBackBeforeItIsReplacedIsEmptiedInItsTurn() {
        DrainPool pool = new DrainPool(3).outdated("s-1");
        for (int round = 0; round < ENOUGH && pool.madeAnew.isEmpty(); round++) {
            pool.rounds(1);
        }
        pool.rounds(2).later(Duration.ofMinutes(11)).rounds(2);
        pool.outdated("s-1").rounds(1);
        assertThat(pool.phases()).containsExactly("s-1 REPLACE");

        pool.node("s-2").state = "away";
        pool.starts().rounds(1);
        assertThat(pool.madeAnew).containsExactly("s-1 with 0");
        assertThat(pool.phases()).isEmpty();

        pool.node("s-2").state = "ready";
        pool.rounds(1);
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
    }

    /** It was there meanwhile, and may have taken objects. */
    @Test
    void oneThatCameBackAndFellIsNotReplacedAsItIs() {
        DrainPool pool = new DrainPool(3).outdated("s-1");
        for (int round = 0; round < ENOUGH && pool.madeAnew.isEmpty(); round++) {
            pool.rounds(1);
        }
        pool.rounds(2).later(Duration.ofMinutes(11)).rounds(2);
        pool.node("s-1").holds = 5;

        pool.outdated("s-1").rounds(3);

        assertThat(pool.madeAnew).containsExactly("s-1 with 0");
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
    }

    @Test
    void theOnlyOneStaysAsItIs() {
        DrainPool pool = new DrainPool(1).outdated("s-0");
        pool.node("s-0").holds = 5;
        pool.rounds(ENOUGH);

        assertThat(pool.madeAnew).isEmpty();
        assertThat(pool.told).isEmpty();
        assertThat(pool.plan().words().draining().message())
                .isEqualTo("s-0 is to be emptied and waits: no other storage node is ready to take what it holds.");
    }

    /** In the moment in which it was told to take none: the only one of a pool took none for all of spec.drain.timeout. */
    @Test
    void theOnlyOneTakesPartAgainWhenObjectsCameBeforeItWasEmptied() {
        DrainPool pool = new DrainPool(1).outdated("s-0").rounds(1);
        assertThat(pool.phases()).containsExactly("s-0 UNDER_WAY");

        pool.node("s-0").holds = 5;
        pool.node("s-0").stuck = 5;
        pool.rounds(1);
        assertThat(pool.phases()).containsExactly("s-0 TAKE_BACK");
        pool.rounds(5);
        assertThat(pool.node("s-0").state).isEqualTo("ready");
        assertThat(pool.plan().words().draining().message())
                .isEqualTo("s-0 is to be emptied and waits: no other storage node is ready to take what it holds.");
    }

    /** A DaemonSet makes no pod beside a taint, and what such a storage node keeps on the machine would be out of reach. */
    @Test
    void oneThatKeepsWhatItHoldsIsNotReplacedWhereItsNextPodIsNotAdmitted() {
        DrainPool pool = new DrainPool(3)
                .tainted("t.example/gone")
                .cordoned("k-1")
                .options(WAIT)
                .outdated("s-1");
        pool.node("s-1").perNode = true;
        pool.node("s-1").keeps = true;
        pool.node("s-1").stuck = 5;
        pool.rounds(ENOUGH);

        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");
        assertThat(pool.madeAnew).isEmpty();
        assertThat(pool.plan().waits().toString())
                .contains("Kubernetes node k-1 has taint t.example/gone, so that its pod might not come back");

        pool.cordoned().rounds(ENOUGH);
        assertThat(pool.madeAnew).hasSize(1);
    }

    @Test
    void whatCannotBeMovedHoldsItBackUnlessLeftoversMayBeDropped() {
        DrainPool pool = new DrainPool(2).outdated("s-1").options(WAIT);
        pool.node("s-1").stuck = 7;
        pool.rounds(ENOUGH);

        assertThat(pool.madeAnew).isEmpty();
        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");
        assertThat(pool.plan().words().draining().message())
                .startsWith("s-1 is to be recreated and could not be emptied in time, 7 objects")
                .contains("set spec.drain.onLeftovers to Drop, or take the change back");

        pool.options(DROP).rounds(3);
        assertThat(pool.madeAnew).hasSize(1);
    }

    /** It held the upgrade for as long as there was no room, also one that a pool goes back by. */
    @Test
    void oneThatCannotBeEmptiedIsTakenBackForAnUpgrade() {
        DrainPool pool = new DrainPool(2).outdated("s-1").options(WAIT);
        pool.node("s-1").stuck = 7;
        pool.rounds(ENOUGH);
        assertThat(pool.phases()).containsExactly("s-1 LEFTOVERS");

        pool.upgradedTo("kvpool:2").rounds(1);
        assertThat(pool.phases()).containsExactly("s-1 TAKE_BACK");
        pool.rounds(4);

        assertThat(pool.plan().steps())
                .extracting(StepStatus::of, StepStatus::kind, StepStatus::because)
                .contains(tuple("s-1", StepKind.RESTART, StepCause.UPGRADE));
    }

    /** Of one that does not get ready nothing can be moved: it was to be emptied and taken back in turns for good, and the upgrade never ended. */
    @ParameterizedTest(name = "on a cordoned Kubernetes node: {0}")
    @ValueSource(booleans = {false, true})
    void oneThatFallsInAnUpgradeIsNotEmptiedButFailsIt(boolean cordoned) {
        DrainPool pool = new DrainPool(3).outdated("s-1").options(WAIT).upgradedTo("kvpool:1");
        pool.node("s-1").falls(5);
        if (cordoned) {
            pool.cordoned("k-1");
        }

        assertThat(pool.plan().steps())
                .extracting(StepStatus::of, StepStatus::kind, StepStatus::because)
                .containsExactly(tuple("s-1", StepKind.RESTART, StepCause.UPGRADE));
    }

    /** What may mend it is not held back by the upgrade. */
    @Test
    void oneThatFallsInAnUpgradeAndHoldsNothingIsReplacedWithOtherSettings() {
        DrainPool pool = new DrainPool(3).outdated("s-1").options(WAIT).upgradedTo("kvpool:1");
        pool.node("s-1").falls(0);

        assertThat(pool.plan().steps())
                .extracting(StepStatus::of, StepStatus::kind, StepStatus::because)
                .containsExactly(tuple("s-1", StepKind.REPLACE, StepCause.SETTINGS));
    }

    @Test
    void aChangeThatIsTakenBackEndsIt() {
        DrainPool pool = new DrainPool(2).outdated("s-1").rounds(2).outdated().rounds(1);

        assertThat(pool.phases()).containsExactly("s-1 TAKE_BACK");
        pool.rounds(4);
        assertThat(pool.told).startsWith("empty s-1").endsWith("cancel s-1");
        assertThat(pool.madeAnew).isEmpty();
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void aNewLeaderIsToldAgainAlsoAfterTheOldOneHadSaidItIsEmpty() {
        DrainPool pool = new DrainPool(2).outdated("s-1").rounds(2);
        pool.node("s-1").state = "drained";
        pool.node("s-1").left = 0L;
        pool.round().leaderChanges().round();

        assertThat(pool.madeAnew).as("what the old leader said counts no more").isEmpty();
        assertThat(pool.phases()).containsExactly("s-1 UNDER_WAY");
        pool.rounds(ENOUGH);
        assertThat(pool.madeAnew).containsExactly("s-1 with 0");
    }

    @Test
    void aStepOfAnUpgradeComesFirst() {
        DrainPool pool = new DrainPool(2).outdated("s-1").upgrading(true).rounds(3);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.plan().words().draining().message()).contains("a step of an upgrade comes first");
    }

    @Test
    void whileItsPodEndsItIsStillOnItsWay() {
        DrainPool pool = new DrainPool(2).outdated("s-1").rounds(2);
        pool.node("s-1").state = "drained";
        pool.node("s-1").left = 0L;
        pool.round();
        pool.node("s-1").ending = true;

        assertThat(pool.plan().steps()).singleElement().satisfies(step -> {
            assertThat(step.kind()).isEqualTo(StepKind.REPLACE);
            assertThat(step.state()).isEqualTo(StepState.UNDER_WAY);
        });
        assertThat(pool.plan().actions()).as("it must not take anything again").isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void whateverHappensMeanwhileNothingIsLost(long seed) {
        Random random = new Random(seed);
        DrainPool pool = new DrainPool(5).options(WAIT).outdated("s-0", "s-1", "s-2", "s-3", "s-4");
        for (int round = 0; round < 300; round++) {
            switch (random.nextInt(12)) {
                case 0 -> pool.leaderChanges();
                case 1 -> pool.led(random.nextBoolean());
                case 2 -> pool.upgrading(random.nextInt(4) == 0);
                case 3 -> pool.cordoned("k-" + random.nextInt(5)).evicting(random.nextBoolean());
                case 4 -> pool.cordoned();
                case 5 -> pool.later(Duration.ofSeconds(random.nextInt(90)));
                case 6 -> pool.specCounts(random.nextInt(5) != 0);
                default -> pool.starts();
            }
            pool.rounds(1);
        }
        pool.cordoned().led(true).upgrading(false).specCounts(true);
        for (int round = 0; round < 10 * ENOUGH; round++) {
            pool.rounds(1).starts();
        }

        assertThat(Stream.of(pool.madeAnew, pool.evicted).flatMap(List::stream))
                .as("seed %d", seed)
                .allMatch(line -> line.endsWith(" with 0"));
        assertThat(pool.gone).isEmpty();
        assertThat(pool.status()).isEmpty();
        assertThat(pool.plan().words().draining().reason()).isEqualTo(Reason.NO_DRAIN);
    }
}
