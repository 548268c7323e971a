// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.operator.pool.observation.ImagePull.State;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The new image is on the Kubernetes nodes before anything is stopped for it. */
class ImagePullsTest {
    private static final Duration OVERDUE = Duration.ofMinutes(11);

    private static RollPool upgrading(String... machines) {
        RollPool pool = new RollPool(2, 2).want(NEW).preflight("rolling-warm");
        pool.machines.are(machines);
        return pool.rounds(10);
    }

    private static RollPool pulled(RollPool pool, String node, State state, String trouble) {
        pool.machines.pulled(node, state, trouble);
        return pool;
    }

    private static Optional<RollPhase> phase(RollPool pool) {
        return pool.status().map(RollStatus::phase);
    }

    @Test
    void nothingBeginsBeforeEachNodeHasIt() {
        RollPool pool = upgrading("n-1", "n-2");
        assertThat(pool.machines.pulling()).containsExactly("n-1", "n-2");
        pulled(pool, "n-1", State.DONE, "").rounds(10);

        assertThat(phase(pool)).hasValue(RollPhase.PREFLIGHT);
        assertThat(pool.done).isEmpty();
        assertThat(pool.plan().finding().message())
                .contains("begins when its image is on each Kubernetes node")
                .contains("n-2");

        pulled(pool, "n-2", State.DONE, "").rounds(100);

        assertThat(pool.images()).containsExactly(NEW);
        assertThat(pool.machines.pulling()).as("Jobs that are left").isEmpty();
    }

    @Test
    void anImageThatANodeCannotGetBlocksTheUpgradeAndNothingWasStopped() {
        RollPool pool = pulled(upgrading("n-1", "n-2"), "n-1", State.DONE, "");
        pulled(pool, "n-2", State.REFUSED, "waits: ErrImagePull: denied").rounds(5);
        assertThat(phase(pool)).as("it may come yet").hasValue(RollPhase.PREFLIGHT);
        assertThat(pool.plan().finding().message()).contains("on n-2 it waits: ErrImagePull: denied");

        pool.later(OVERDUE).rounds(2);

        assertThat(phase(pool)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.plan().finding().reason()).isEqualTo(Reason.VERSION_REFUSED);
        assertThat(pool.plan().finding().message())
                .contains("nothing was restarted")
                .contains("node n-2 cannot get its image: waits: ErrImagePull: denied");
        assertThat(pool.done).isEmpty();
        assertThat(pool.images()).containsExactly(OLD);
        assertThat(pool.machines.pulling()).isEmpty();
    }

    @Test
    void itIsAskedAgainAndGoesOnWhenTheImageIsThere() {
        RollPool pool = pulled(upgrading("n-1"), "n-1", State.REFUSED, "waits: ImagePullBackOff");
        pool.later(OVERDUE).rounds(2);
        assertThat(phase(pool)).hasValue(RollPhase.BLOCKED);

        pool.later(OVERDUE).rounds(5);
        pulled(pool, "n-1", State.DONE, "").rounds(100);

        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void aPodThatCannotRunForAnotherReasonKeepsNothingWaiting() {
        RollPool failed = pulled(upgrading("n-1"), "n-1", State.FAILED, "").rounds(100);
        assertThat(failed.images()).containsExactly(NEW);

        RollPool never = upgrading("n-1").later(OVERDUE).rounds(100);
        assertThat(never.images()).containsExactly(NEW);
    }

    @Test
    void aNodeThatNobodyHearsOfAnyMoreIsNotWaitedFor() {
        RollPool pool = pulled(upgrading("n-1", "n-2"), "n-1", State.DONE, "");

        pool.machines.are("n-1");
        pool.rounds(100);

        assertThat(pool.images()).containsExactly(NEW);
    }

    @Test
    void nothingIsPulledForAVersionThatIsRefused() {
        RollPool pool = new RollPool(2, 2).want(NEW).preflight("refused");
        pool.machines.are("n-1");
        pool.rounds(10);

        assertThat(phase(pool)).hasValue(RollPhase.BLOCKED);
        assertThat(pool.machines.pulling()).isEmpty();
    }

    @Test
    void soManyAtATimeAndNoMore() {
        String[] machines =
                IntStream.range(100, 180).mapToObj("n-%d"::formatted).toArray(String[]::new);
        RollPool pool = upgrading(machines);
        assertThat(pool.machines.pulling()).hasSize(ImagePulls.AT_ONCE);

        int rounds = 0;
        while (phase(pool).equals(Optional.of(RollPhase.PREFLIGHT))) {
            pool.machines.pulling().stream().toList().forEach(node -> pulled(pool, node, State.DONE, ""));
            pool.round();
            rounds++;
        }

        assertThat(rounds).isBetween(3, 5);
    }
}
