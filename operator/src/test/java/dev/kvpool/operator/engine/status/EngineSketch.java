// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.engine.status;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.ConditionStatus;
import dev.kvpool.api.v1alpha1.status.EngineUse;
import dev.kvpool.api.v1alpha1.status.ReadyCount;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import java.util.List;

/** Draws a transfer engine and the pools that name it in a few words. */
public final class EngineSketch {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private EngineSketch() {}

    /** The status of an engine whose storage nodes share memory with other pods, else with default settings. */
    public static TransferEngineStatus status(KvCachePool... pools) {
        return statusOf("{socketDirectory: /run/kvpool}", pools);
    }

    public static TransferEngineStatus statusOf(String spec, KvCachePool... pools) {
        TransferEngine engine = new KubernetesSerialization()
                .unmarshal(
                        "--- {apiVersion: kvpool.dev/v1alpha1, kind: TransferEngine, metadata: {name: demo}, spec: %s}"
                                .formatted(spec),
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

    /** A pool whose sets use several engines, of which nothing else is known. */
    static KvCachePool poolOf(EngineUse... uses) {
        return pool("demo", List.of(), null, null, List.of(), List.of(uses));
    }

    /** One of which only the condition Progressing is known. */
    static KvCachePool progressing(String name, String reason) {
        Condition condition = new Condition("Progressing", ConditionStatus.FALSE, 1L, "", reason, "");
        return pool(name, List.of(condition), ReadyCount.of(0, 0), null, List.of("shm", "tcp"), List.of());
    }

    private static KvCachePool pool(int ready, int desired, ReadyCount agents, String... protocols) {
        return pool("demo", List.of(), ReadyCount.of(ready, desired), agents, List.of(protocols), List.of());
    }

    private static KvCachePool pool(
            String name,
            List<Condition> conditions,
            ReadyCount storage,
            ReadyCount agents,
            List<String> protocols,
            List<EngineUse> uses) {
        KvCachePool pool = new KvCachePool();
        pool.setMetadata(new ObjectMetaBuilder().withName(name).build());
        pool.setSpec(new KubernetesSerialization()
                .unmarshal("--- {transferEngine: demo, storage: [{name: a, capacity: 1Gi}]}", KvCachePoolSpec.class));
        pool.setStatus(new KvCachePoolStatus(
                null,
                null,
                null,
                conditions,
                null,
                null,
                null,
                storage,
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
                null,
                protocols,
                null,
                null,
                uses));
        return pool;
    }
}
