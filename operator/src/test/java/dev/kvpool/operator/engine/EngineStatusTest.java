// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.ReadyCount;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineStatus;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a transfer engine says of the pools that name it. */
class EngineStatusTest {
    private static final InstantSource NOON = InstantSource.fixed(Instant.parse("2026-01-01T12:00:00Z"));

    @Test
    void oneThatNobodyNamesIsReadyAndSaysSo() {
        assertThat(reason()).isEqualTo(Reason.NOT_USED.text());
    }

    @Test
    void allNodesOfAllPoolsMustBeReady() {
        assertThat(reason(pool(2, 2, "shm", "tcp"), pool(1, 1, "shm", "tcp"))).isEqualTo(Reason.ENGINE_READY.text());
        assertThat(reason(pool(2, 2, "shm", "tcp"), pool(0, 1, "shm", "tcp"))).isEqualTo(Reason.NODES_MISSING.text());
    }

    @Test
    void aProtocolThatOnePoolLacksIsMissing() {
        assertThat(reason(pool(2, 2, "shm", "tcp"), pool(1, 1, "tcp"))).isEqualTo(Reason.PROTOCOLS_MISSING.text());
    }

    private static String reason(KvCachePool... pools) {
        TransferEngine engine = new KubernetesSerialization()
                .unmarshal(
                        "--- {apiVersion: kvpool.dev/v1alpha1, kind: TransferEngine, spec: {}}", TransferEngine.class);
        TransferEngineStatus status = EngineStatus.next(engine, List.of(pools), NOON);
        return status.conditions().stream().map(Condition::reason).findFirst().orElseThrow();
    }

    private static KvCachePool pool(int ready, int desired, String... protocols) {
        KvCachePool pool = new KvCachePool();
        pool.setMetadata(new ObjectMetaBuilder().withName("demo").build());
        pool.setStatus(new KvCachePoolStatus(
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                ReadyCount.of(ready, desired),
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                List.of(protocols)));
        return pool;
    }
}
