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
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Upgrades while a machine is dead, or there is none for a pod: neither fails them, and no member is forgotten. */
class LostMachinesTest {
    private static final Duration LONG = Duration.ofMinutes(11);

    @Test
    void aDeadStorageNodeIsLeftOutAndGoesOverWhenItIsBack() {
        RollPool pool = upgrading(2, 3, 2).dies("s-1");

        play(pool, 2);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.stable()).isEqualTo(NEW);
        assertThat(pool.done).doesNotContain("s-1 " + NEW).contains("s-0 " + NEW, "s-2 " + NEW);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.NO_UPGRADE);
        assertThat(pool.plan().finding().message())
                .contains("Left out, until it is back: s-1 (its Kubernetes node is not ready).");

        pool.node("s-1").isReachedAgain();
        play(pool, 2);
        assertThat(pool.status()).isEmpty();
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void withNoRoomInTheBudgetItWaitsAndSaysHowToGoOn() {
        RollPool pool = upgrading(2, 3, 1).dies("s-1");

        play(pool, 1);

        assertThat(pool.done).isEmpty();
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);
        assertThat(pool.steps()).as("nothing keeps drains waiting").isEmpty();
        assertThat(pool.plan().finding().message())
                .contains("It waits: storage node s-1 is not ready (its Kubernetes node is not ready); with"
                        + " spec.upgrade.maxUnavailable above 1 others are upgraded meanwhile.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"m-0", "m-1", "m-2"})
    void aDeadMasterIsNotAskedAndLeftOutWhileAnotherStandbyIsThere(String dead) {
        RollPool pool = upgrading(3, 2, 1).preflight("").dies(dead).rounds(2);
        assertThat(pool.plan().preflight().orElseThrow().masters()).hasSize(2).doesNotContain(dead);
        pool.preflight("rolling-warm");

        play(pool, 1);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.done).doesNotContain(dead + " " + NEW);
        assertThat(pool.imagesOfStorage()).containsExactly(NEW);

        pool.master(dead).reboots();
        play(pool, 1);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void whoIsNotAskedIsNamed() {
        RollPool pool = new RollPool(3, 2).want(NEW).dies("m-2").rounds(2);

        assertThat(pool.plan().finding().message()).contains("without asking m-2, whose Kubernetes node is not ready");
    }

    @Test
    void withoutAnotherStandbyMastersAreWaitedFor() {
        RollPool pool = upgrading(2, 2, 1).dies("m-1");

        play(pool, 1);

        assertThat(pool.done).isEmpty();
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.ROLLING);
        assertThat(pool.plan().finding().message())
                .contains("master m-1 is not ready (its Kubernetes node is not ready), and no other standby knows");
    }

    @Test
    void podsForWhichThereIsNoNodeTakeTheImageUnasked() {
        RollPool pool = upgrading(3, 3, 1).withoutNode("m-2").withoutNode("s-2");

        play(pool, 1);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.done).contains("m-2 " + NEW, "s-2 " + NEW);
        assertThat(pool.stable()).isEqualTo(NEW);
        pool.master("m-2").isReachedAgain();
        pool.node("s-2").isReachedAgain();
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aMachineThatDiesInTheMiddleOfItsStepDoesNotFailTheUpgrade() {
        RollPool pool = upgrading(3, 3, 2);
        while (!pool.done.contains("s-1 " + NEW)) {
            pool.round();
        }
        pool.dies("s-1");

        play(pool, 2);

        assertThat(pool.status()).isEmpty();
        assertThat(pool.stable()).isEqualTo(NEW);
        pool.node("s-1").reboots();
        play(pool, 2);
        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void goingBackEndsWhileAMachineIsDeadAndGoesOnWhenItIsBack() {
        RollPool pool = upgrading(2, 3, 1);
        pool.node("s-1").losesAtReturn = 7L;
        while (!pool.done.contains("s-1 " + NEW)) {
            pool.round();
        }
        pool.dies("s-2");

        play(pool, 2);

        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.plan().finding().message()).contains("s-2 (its Kubernetes node is not ready)");

        pool.node("s-2").isReachedAgain();
        play(pool, 2);
        assertThat(pool.status().map(RollStatus::phase)).hasValue(RollPhase.FAILED);
        assertThat(pool.images()).containsExactly(OLD);
    }

    @Test
    void oneThatComesBackAfterADrainedUpgradeIsEmptiedBefore() {
        RollPool pool = upgrading(2, 3, 2).preflight("rolling-drained").dies("s-1");
        play(pool, 2);
        assertThat(pool.stable()).isEqualTo(NEW);
        assertThat(pool.status()).isEmpty();

        pool.node("s-1").isReachedAgain();
        play(pool, 2);

        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.done).containsSubsequence("drain s-1", "delete s-1").doesNotContain("s-1 " + NEW);
    }

    @Test
    void aBrokenNodeThatCannotBeReadIsLast() {
        RollPool pool = upgrading(2, 3, 2).preflight("rolling-drained").bad("broken");
        pool.node("s-2").runNow("broken");

        play(pool, 2);

        assertThat(pool.done).doesNotContain("s-2 " + NEW, "delete s-2").contains("delete s-0", "delete s-1");
        assertThat(pool.plan().finding().message())
                .contains("storage node s-2 is not ready (crashes), so that it cannot be emptied", "spec.onDataLoss");

        pool.mayLoseBytes();
        play(pool, 2);
        assertThat(pool.done).contains("delete s-2");
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.status()).isEmpty();
    }

    @Test
    void aNodeThatDiesWhileItIsEmptiedTakesPutsWhenItIsBack() {
        RollPool pool = upgrading(2, 3, 1).preflight("rolling-drained");
        pool.node("s-2").takes = Duration.ofMinutes(1);
        while (!pool.done.contains("drain s-2")) {
            pool.round();
        }
        pool.options(budget(2)).dies("s-2");

        for (int i = 0; i < 10; i++) {
            play(pool, 2);
        }
        assertThat(pool.done).contains("take back s-2");
        assertThat(pool.status()).isEmpty();
        assertThat(pool.stable()).isEqualTo(NEW);

        pool.want(NEW).node("s-2").isReachedAgain();
        pool.later(LONG);
        play(pool, 2);
        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.notTaking()).isZero();
    }

    @Test
    void whatRanWhenNobodyIsLeftOutIsNoNewsToThePool() {
        RollPool pool = new RollPool(2, 3).dies("s-1");

        assertThat(pool.plan().next()).isEqualTo(Optional.empty());
        assertThat(pool.plan().finding().message()).doesNotContain("Left out");
    }

    private static RollPool upgrading(int masters, int nodes, int budget) {
        return new RollPool(masters, nodes).want(NEW).preflight("rolling-warm").options(budget(budget));
    }

    private static UpgradeSpec budget(int count) {
        return new UpgradeSpec(count, 0, false, null, false, null);
    }

    /** For longer than any step may take. */
    private static void play(RollPool pool, int budget) {
        for (int part = 0; part < 6; part++) {
            for (int round = 0; round < ENOUGH / 4; round++) {
                pool.round();
                assertThat(pool.awayForUs(false)).as("%s", pool.done).isLessThanOrEqualTo(budget);
                assertThat(pool.awayForUs(true)).as("%s", pool.done).isLessThanOrEqualTo(1);
            }
            pool.later(LONG);
        }
        assertThat(pool.unread()).isEmpty();
        assertThat(Set.copyOf(pool.images())).isNotEmpty();
    }
}
