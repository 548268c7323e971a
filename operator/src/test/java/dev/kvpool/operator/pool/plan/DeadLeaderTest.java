// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PodContainer;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When the operator says of a leader that it is gone, and to whom. The Lease of the sketch was taken 30 s before noon. */
class DeadLeaderTest {
    private static final String SPEC = "{storage: [{name: a, capacity: 1Gi, replicas: 1}]}";
    private static final String LEADER = "demo-master-0";
    private static final PodContainer.Ended KILLED = new PodContainer.Ended(137, "");

    @Test
    void aLeaderWhoseContainerHasEndedIsGoneAndTheOthersAreTold() {
        PoolSketch sketch = pool().silent(LEADER).pod(ended(LEADER));

        PoolPlan plan = sketch.plan();

        assertThat(plan.leader().dead()).hasValueSatisfying(dead -> {
            assertThat(dead.leadership().holder()).isEqualTo(LEADER + "_0123456789abcdef");
            assertThat(dead.others()).extracting(ObservedPod::name).containsExactly("demo-master-1");
            assertThat(dead.sentence())
                    .isEqualTo(
                            "The container of demo-master-0, the leader of epoch 7, has ended with exit code 137. The other masters"
                                    + " were told, so that one takes over.");
        });
    }

    @Test
    void aPausedPoolsLeaderIsMissedToo() {
        PoolSketch sketch = new PoolSketch("{paused: true, storage: [{name: a, capacity: 1Gi}]}")
                .masters(2, 7, leading(7, "serving"))
                .silent(LEADER)
                .pod(ended(LEADER));

        assertThat(sketch.plan().leader().dead()).isPresent();
    }

    @ParameterizedTest
    @CsvSource({
        "2026-01-01T11:59:00Z, false, it runs since before it took the Lease",
        "2026-01-01T11:59:28Z, false, two seconds before is before however they are cut off",
        "2026-01-01T11:59:30Z, true, kubelets cut off fractions",
        "2026-01-01T11:59:45Z, true, another process than the one that took the Lease",
    })
    void aSilentLeaderIsGoneWhenItsContainerBeganAfterTheLease(Instant since, boolean gone, String why) {
        PoolSketch sketch = pool().silent(LEADER).pod(running(LEADER, since));

        assertThat(sketch.plan().leader().dead().isPresent()).as(why).isEqualTo(gone);
    }

    @ParameterizedTest
    @CsvSource({"7, serving, false", "7, recovering, false", "7, standby, true", "6, serving, true", "0, starting, true"
    })
    void whatTheProcessSaysOfItselfIsNewerThanWhatTheKubeletSays(long epoch, String state, boolean gone) {
        PoolSketch sketch = pool().says(LEADER, leading(epoch, state)).pod(ended(LEADER));

        assertThat(sketch.plan().leader().dead().isPresent()).isEqualTo(gone);
    }

    @Test
    void aLeaderWithoutAPodOrAnAddressIsLeftToItsLease() {
        PoolSketch absent = new PoolSketch(SPEC).lease(LEADER, 7);
        PoolSketch neverRan = pool().silent(LEADER).pod(PoolSketch.pod(LEADER, PoolLabels.ROLE_MASTER, "", false, "a"));

        assertThat(absent.plan().leader().dead()).isEmpty();
        assertThat(neverRan.plan().leader().dead()).isEmpty();
    }

    @Test
    void mastersThatDoNotRunAreNotTold() {
        PoolSketch sketch = pool().silent(LEADER).pod(ended(LEADER)).pod(ended("demo-master-1"));

        DeadLeader dead = sketch.plan().leader().dead().orElseThrow();
        assertThat(dead.others()).isEmpty();
        assertThat(dead.sentence()).endsWith("It leads again when it is back: there is no other master that runs.");
    }

    private static PoolSketch pool() {
        return new PoolSketch(SPEC).set("a", 1).masters(2, 7, leading(7, "serving"));
    }

    private static PoolReport leading(long epoch, String state) {
        return Reports.leader(LEADER, epoch, List.of())
                .with("poolId", PoolSketch.UID)
                .with("state", state)
                .build();
    }

    private static ObservedPod ended(String name) {
        return PoolSketch.ended(PoolSketch.pod(name, PoolLabels.ROLE_MASTER, "", true, "a"), PoolSketch.IMAGE, KILLED);
    }

    private static ObservedPod running(String name, Instant since) {
        return PoolSketch.running(PoolSketch.pod(name, PoolLabels.ROLE_MASTER, "", true, "a"), Optional.of(since));
    }
}
