// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.engine;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.Protocol;
import dev.kvpool.api.v1alpha1.ReadyCount;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineStatus;
import dev.kvpool.operator.status.Conditions;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Makes the next status of a transfer engine from the pools that use it. Pure. */
final class EngineStatus {
    /** Masters know of no ucx, so that it can be neither offered nor missing here. */
    private static final String UNOBSERVED =
            " Only the nodes know whether they serve ucx: see kubectl kvpool status POOL, or metric"
                    + " kvpool_node_serves_ucx.";

    private static final String UNSHARED =
            " They do not offer shm: it needs spec.socketDirectory, where pods share memory by sockets.";

    private EngineStatus() {}

    /**
     * @param pools the pools that name this engine, in order of their names
     */
    static TransferEngineStatus next(TransferEngine engine, List<KvCachePool> pools, InstantSource clock) {
        TransferEngineStatus old = Objects.requireNonNullElse(engine.getStatus(), TransferEngineStatus.EMPTY);
        ReadyCount nodes = sum(pools, KvCachePoolStatus::storage);
        ReadyCount agents = engine.getSpec().agents() == null ? null : sum(pools, KvCachePoolStatus::agents);
        Set<String> offered = offered(pools);
        Finding finding = finding(engine, pools, nodes, agents, offered);
        Long generation = engine.getMetadata().getGeneration();
        return new TransferEngineStatus(
                generation,
                finding.message(),
                Conditions.merge(old.conditions(), List.of(finding), generation == null ? 0 : generation, clock),
                nodes,
                agents,
                List.copyOf(offered),
                pools.size(),
                pools.stream()
                        .map(pool -> pool.getMetadata().getName())
                        .limit(TransferEngineStatus.POOLS_MAX)
                        .toList());
    }

    private static Finding finding(
            TransferEngine engine, List<KvCachePool> pools, ReadyCount nodes, ReadyCount agents, Set<String> offered) {
        if (pools.isEmpty()) {
            return new Finding(Reason.NOT_USED, "No pool names this transfer engine.");
        }
        boolean ofEngines =
                pools.stream().allMatch(pool -> pool.getSpec().storage().isEmpty());
        if (nodes.ready() < nodes.desired()) {
            return new Finding(
                    Reason.NODES_MISSING,
                    "%s storage nodes that use this transfer engine are ready.".formatted(nodes.summary()));
        }
        Set<String> missing = wanted(engine);
        missing.removeAll(offered);
        if (!missing.isEmpty() && !ofEngines) {
            return new Finding(
                    Reason.PROTOCOLS_MISSING,
                    ("Not every ready storage node offers %s. Changed protocols apply when nodes are replaced; see condition"
                                    + " SpecApplied of the pools.")
                            .formatted(String.join(", ", missing)));
        }
        if (agents != null && agents.ready() < agents.desired()) {
            return new Finding(
                    Reason.AGENTS_MISSING,
                    ("%s agents of this transfer engine's pools are ready. Engines on the other Kubernetes nodes wait or"
                                    + " connect directly; see the pods with label kvpool.dev/role=agent.")
                            .formatted(agents.summary()));
        }
        return new Finding(
                Reason.ENGINE_READY,
                "All %d storage nodes of %d pools are ready.%s%s"
                        .formatted(
                                nodes.desired(),
                                pools.size(),
                                isWithoutSockets(engine) ? UNSHARED : "",
                                engine.getSpec().protocols().contains(Protocol.UCX) ? UNOBSERVED : ""));
    }

    private static boolean isWithoutSockets(TransferEngine engine) {
        return engine.getSpec().protocols().contains(Protocol.SHM)
                && engine.getSpec().socketDirectory() == null;
    }

    private static Set<String> wanted(TransferEngine engine) {
        return engine.getSpec().protocolsOfNodes().stream()
                .filter(protocol -> protocol != Protocol.UCX)
                .map(EngineStatus::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String name(Protocol protocol) {
        return switch (protocol) {
            case SHM -> "shm";
            case UCX -> "ucx";
            case TCP -> "tcp";
        };
    }

    /** Protocols that all pools offer, as far as they were asked. */
    private static Set<String> offered(List<KvCachePool> pools) {
        Set<String> common = null;
        for (KvCachePool pool : pools) {
            if (pool.getSpec().storage().isEmpty()) {
                continue;
            }
            List<String> protocols =
                    pool.getStatus() == null ? List.of() : pool.getStatus().protocols();
            if (common == null) {
                common = new TreeSet<>(protocols);
            } else {
                common.retainAll(protocols);
            }
        }
        return common == null ? Set.of() : common;
    }

    private static ReadyCount sum(List<KvCachePool> pools, Function<KvCachePoolStatus, ReadyCount> part) {
        List<ReadyCount> counts = pools.stream()
                .map(KvCachePool::getStatus)
                .filter(Objects::nonNull)
                .map(part)
                .filter(Objects::nonNull)
                .toList();
        return ReadyCount.of(
                counts.stream().mapToInt(ReadyCount::ready).sum(),
                counts.stream().mapToInt(ReadyCount::desired).sum());
    }
}
