// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.random;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.api.v1alpha1.storage.LeftoverPolicy;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.random.RandomCluster.Host;
import dev.kvpool.operator.pool.random.RandomCluster.Pod;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A user who wants another master to lead: it happens once, within the budget, and only to the leadership that was meant. */
class RequestedFailoverTest {
    private static final int ENOUGH = 60;

    @ParameterizedTest
    @ValueSource(longs = {0, 1, 2, 3})
    void theLeaderHandsOverOnce(long seed) {
        RandomPool pool = pool(seed, 3);
        String leader = leader(pool);
        long epoch = request(pool);
        pool.round();
        assertThat(pool.status().steps()).singleElement().satisfies(step -> {
            assertThat(step.of()).isEqualTo(leader);
            assertThat(step.kind()).isEqualTo(StepKind.HAND_OVER);
            assertThat(step.because()).isEqualTo(StepCause.REQUEST);
            assertThat(step.state()).isEqualTo(StepState.UNDER_WAY);
        });
        assertThat(leader(pool)).as("before that is written down").isEqualTo(leader);
        rounds(pool, ENOUGH);

        assertThat(leader(pool)).isNotEqualTo(leader);
        assertThat(epoch(pool)).isEqualTo(epoch + 1);
        assertThat(pool.unlike()).isEmpty();
    }

    @Test
    void itHappensOnceThoughOperatorsDieInEachMoment() {
        RandomPool pool = pool(0, 3);
        long epoch = request(pool);
        for (int i = 0; i < ENOUGH; i++) {
            pool.roundCutShort();
            pool.round();
            pool.roundWithStaleStatus();
        }

        assertThat(epoch(pool)).isEqualTo(epoch + 1);
    }

    @Test
    void anEndedLeadershipIsNotMeant() {
        RandomPool pool = pool(0, 3);
        request(pool);
        pool.data.fail(pool.now());
        long epoch = epoch(pool);
        rounds(pool, ENOUGH);

        assertThat(epoch(pool)).isEqualTo(epoch);
        assertThat(pool.status().steps()).isEmpty();
    }

    @Test
    void itWaitsForAStorageNodeThatIsAwayAndCanBeTakenBackMeanwhile() {
        RandomPool pool = pool(0, 3);
        Host lost = hostOfStorageOnly(pool);
        pool.cluster.lose(lost);
        rounds(pool, 3);
        long epoch = request(pool);
        rounds(pool, 1);

        assertThat(pool.status().steps())
                .filteredOn(step -> step.because() == StepCause.REQUEST)
                .singleElement()
                .satisfies(step -> {
                    assertThat(step.state()).isEqualTo(StepState.WAITING);
                    assertThat(step.waitsFor())
                            .startsWith("storage node demo-a-")
                            .contains("is not ready");
                });

        pool.annotations.remove(PoolLabels.FAILOVER);
        rounds(pool, 1);
        assertThat(pool.status().steps()).isEmpty();
        pool.cluster.isBack(lost, false);
        rounds(pool, ENOUGH);
        assertThat(epoch(pool)).isEqualTo(epoch);
        assertThat(pool.unlike()).isEmpty();
    }

    @Test
    void theOnlyMasterKeepsItsLeadership() {
        RandomPool pool = pool(0, 1);
        long epoch = request(pool);
        rounds(pool, ENOUGH);

        assertThat(epoch(pool)).isEqualTo(epoch);
        assertThat(pool.status().steps())
                .extracting(StepStatus::waitsFor)
                .containsExactly("there is no other master that could take the leadership");

        pool.annotations.put(
                PoolLabels.restart(PoolLabels.ROLE_MASTER), pool.now().toString());
        String before = pod(pool, leader(pool)).uid;
        rounds(pool, ENOUGH);
        assertThat(pod(pool, leader(pool)).uid)
                .as("nothing waits for what cannot happen")
                .isNotEqualTo(before);
    }

    @Test
    void aLeaderThatDoesNotHandOverIsToldAndKeepsNothingElseWaiting() {
        RandomPool pool = pool(0, 3);
        long epoch = requestInVain(pool);
        assertThat(pool.status().steps())
                .extracting(StepStatus::waitsFor)
                .containsExactly(leader(pool) + " did not hand its leadership over within 5m");

        pool.annotations.put(
                PoolLabels.restart(PoolLabels.ROLE_STORAGE), pool.now().toString());
        String before = pod(pool, "demo-a-0").uid;
        rounds(pool, ENOUGH);

        assertThat(pod(pool, "demo-a-0").uid).isNotEqualTo(before);
        assertThat(epoch(pool)).isEqualTo(epoch);
        pool.annotations.remove(PoolLabels.FAILOVER);
        rounds(pool, ENOUGH);
        assertThat(pool.unlike()).isEmpty();
    }

    /** A failed one counts as nothing that is under way: one that went on would happen beside what has begun since. */
    @Test
    void oneThatHasFailedHappensNoMoreWhenAnotherOperatorLooks() {
        RandomPool pool = pool(0, 3);
        long epoch = requestInVain(pool);

        pool.data.clings = false;
        pool.roundCutShort();
        rounds(pool, ENOUGH);
        assertThat(epoch(pool)).isEqualTo(epoch);
        assertThat(pool.status().steps()).extracting(StepStatus::state).containsExactly(StepState.FAILED);

        pool.annotations.remove(PoolLabels.FAILOVER);
        rounds(pool, 2);
        request(pool);
        rounds(pool, ENOUGH);
        assertThat(epoch(pool)).isEqualTo(epoch + 1);
    }

    private static RandomPool pool(long seed, int masters) {
        RandomPool pool = new RandomPool(new Random(seed), 5);
        pool.masters = masters;
        pool.replicas.put("a", 3);
        pool.maxUnavailable = 1;
        pool.onDataLoss = DataLossPolicy.MOVE;
        pool.onLeftovers = LeftoverPolicy.WAIT;
        rounds(pool, 20);
        assertThat(pool.unlike()).isEmpty();
        return pool;
    }

    private static long request(RandomPool pool) {
        long epoch = epoch(pool);
        pool.annotations.put(PoolLabels.FAILOVER, Long.toString(epoch));
        return epoch;
    }

    /** Of a leader that does not hand over, until that has failed. */
    private static long requestInVain(RandomPool pool) {
        pool.data.clings = true;
        long epoch = request(pool);
        rounds(pool, 5);
        pool.later(Duration.ofMinutes(6));
        rounds(pool, 1);
        return epoch;
    }

    private static void rounds(RandomPool pool, int count) {
        for (int i = 0; i < count; i++) {
            pool.round();
        }
    }

    private static long epoch(RandomPool pool) {
        return pool.data.leadership().orElseThrow().epoch();
    }

    private static Host hostOfStorageOnly(RandomPool pool) {
        return pool.cluster.hosts.values().stream()
                .filter(host -> pool.cluster.pods().stream().anyMatch(pod -> pod.host.equals(host.name)))
                .filter(host -> pool.cluster.pods().stream()
                        .filter(pod -> pod.host.equals(host.name))
                        .noneMatch(Pod::master))
                .findFirst()
                .orElseThrow();
    }

    private static String leader(RandomPool pool) {
        return pool.data.leadership().orElseThrow().pod();
    }

    private static Pod pod(RandomPool pool, String name) {
        return pool.cluster.pods().stream()
                .filter(pod -> pod.name.equals(name))
                .findFirst()
                .orElseThrow();
    }
}
