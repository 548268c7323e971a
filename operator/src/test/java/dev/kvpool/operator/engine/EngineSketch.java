// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.engine;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.ReadyCount;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineStatus;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;

/** Draws a transfer engine and the pools that name it in a few words. */
public final class EngineSketch {
    private static final InstantSource NOON = InstantSource.fixed(Instant.parse("2026-01-01T12:00:00Z"));

    private EngineSketch() {}

    /** The status of an engine whose storage nodes share memory with other pods, else with default settings. */
    public static TransferEngineStatus status(KvCachePool... pools) {
        return statusOf("{socketDirectory: /run/kvpool}", pools);
    }

    public static TransferEngineStatus statusOf(String spec, KvCachePool... pools) {
        TransferEngine engine = new KubernetesSerialization()
                .unmarshal(
                        "--- {apiVersion: kvpool.dev/v1alpha1, kind: TransferEngine, spec: %s}".formatted(spec),
                        TransferEngine.class);
        return EngineStatus.next(engine, List.of(pools), NOON);
    }

    /** A pool whose ready storage nodes offer the named protocols. */
    public static KvCachePool pool(int ready, int desired, String... protocols) {
        return pool(ready, desired, null, protocols);
    }

    /** A pool with agents and one ready storage node with all protocols. */
    public static KvCachePool poolWithAgents(int ready, int desired) {
        return pool(1, 1, ReadyCount.of(ready, desired), "shm", "tcp");
    }

    private static KvCachePool pool(int ready, int desired, ReadyCount agents, String... protocols) {
        KvCachePool pool = new KvCachePool();
        pool.setMetadata(new ObjectMetaBuilder().withName("demo").build());
        pool.setSpec(
                new KubernetesSerialization().unmarshal("storage: [{name: a, capacity: 1Gi}]", KvCachePoolSpec.class));
        pool.setStatus(new KvCachePoolStatus(
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                ReadyCount.of(ready, desired),
                agents,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                null,
                List.of(protocols),
                null,
                null));
        return pool;
    }
}
