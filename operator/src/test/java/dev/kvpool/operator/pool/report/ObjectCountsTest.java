// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Outcome;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How the status says how much of a pool is not there, without being written for each object that comes or goes. */
class ObjectCountsTest {
    private static final int OBJECTS = 10_000;

    @Test
    void whatCannotBeReadIsInTheStatusAndInTheConditions() {
        KvCachePoolStatus status = next("away", 1_234, 5_678, KvCachePoolStatus.EMPTY);

        assertThat(status.unavailableObjects()).isEqualTo(1_200);
        assertThat(status.underReplicatedObjects()).isEqualTo(5_600);
        assertThat(storageReady(status))
                .isEqualTo(
                        "1 of 2 storage nodes are ready. About 1200 of 10000 objects cannot be read: all nodes that hold them are"
                                + " unavailable. About 5600 of 10000 objects have fewer copies than spec.cache.replicas asks for. demo-a-1"
                                + " is away.");
    }

    @Test
    void whatIsAllThereIsNotCounted() {
        KvCachePoolStatus status = next("ready", 0, 0, next("away", 1_234, 5_678, KvCachePoolStatus.EMPTY));

        assertThat(status.unavailableObjects()).isNull();
        assertThat(status.underReplicatedObjects()).isNull();
        assertThat(storageReady(status)).isEqualTo("2 of 2 storage nodes are ready.");
    }

    @Test
    void copiesThatAreStillMissingWithAllNodesReadyAreNamed() {
        assertThat(storageReady(next("ready", 0, 5_678, KvCachePoolStatus.EMPTY)))
                .isEqualTo("2 of 2 storage nodes are ready. About 5600 of 10000 objects have fewer copies than"
                        + " spec.cache.replicas asks for.");
    }

    @Test
    void aBusyPoolKeepsItsStatus() {
        KvCachePoolStatus away = next("away", 1_234, 5_678, KvCachePoolStatus.EMPTY);
        KvCachePoolStatus ready = next("ready", 0, 0, KvCachePoolStatus.EMPTY);

        assertThat(next("away", 1_299, 5_699, away)).isEqualTo(away);
        assertThat(next("away", 1_101, 5_501, away)).isEqualTo(away);
        for (long fewCopies : new long[] {100, 0, 99, 1}) {
            assertThat(next("ready", 0, fewCopies, ready)).isEqualTo(ready);
        }
        assertThat(next("ready", 0, 101, ready).underReplicatedObjects()).isEqualTo(100);
    }

    @Test
    void oneObjectThatCannotBeReadIsSaid() {
        KvCachePoolStatus status = next("away", 1, 1, KvCachePoolStatus.EMPTY);

        assertThat(status.unavailableObjects()).isEqualTo(1);
        assertThat(status.underReplicatedObjects()).isNull();
    }

    @Test
    void withoutALeaderTheLastCountStays() {
        KvCachePoolStatus before = next("away", 1_234, 5_678, KvCachePoolStatus.EMPTY);

        assertThat(status(new PoolSketch("{storage: [{name: a, capacity: 1Gi, replicas: 2}]}")
                                .set("a", 2)
                                .status(before))
                        .unavailableObjects())
                .isEqualTo(1_200);
    }

    private static KvCachePoolStatus next(
            String state, long unavailable, long underReplicated, KvCachePoolStatus before) {
        PoolReport report = Reports.missing(
                unavailable,
                underReplicated,
                PoolSketch.leader(List.of(
                        PoolSketch.node("demo-a-0", "ready", "", 0, OBJECTS),
                        PoolSketch.node("demo-a-1", state, "", 0, 0))));
        return status(new PoolSketch("{storage: [{name: a, capacity: 1Gi, replicas: 2}]}")
                .set("a", 2)
                .masters(2, 1, report)
                .status(before));
    }

    private static KvCachePoolStatus status(PoolSketch sketch) {
        PoolObservation seen = sketch.observation();
        return new PoolStatus(PoolSketch.SETTINGS)
                .next(seen, List.of(), sketch.plan(), new Outcome(List.of(), List.of()));
    }

    private static String storageReady(KvCachePoolStatus status) {
        return status.conditions().stream()
                .filter(condition -> condition.type().equals("StorageReady"))
                .map(Condition::message)
                .findFirst()
                .orElseThrow();
    }
}
