// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.engine.status;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineStatus;
import dev.kvpool.api.v1alpha1.engine.Protocol;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.EngineUse;
import dev.kvpool.api.v1alpha1.status.ReadyCount;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Conditions;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Makes the next status of a transfer engine from the pools that use it. Pure. */
public final class EngineStatus {
    /** Masters know of none of these, so that they can be neither offered nor missing here. */
    private static final Set<Protocol> UNOBSERVED = Set.of(Protocol.ASCEND, Protocol.UCX);

    private static final String UNSHARED =
            " They do not offer shm: it needs spec.socketDirectory, where pods share memory by sockets.";

    private EngineStatus() {}

    /**
     * Makes it.
     *
     * @param pools the pools that use this engine, for all or some of their storage sets, in order of their names
     */
    public static TransferEngineStatus next(TransferEngine engine, List<KvCachePool> pools, Instant now) {
        TransferEngineStatus old = Objects.requireNonNullElse(engine.getStatus(), TransferEngineStatus.EMPTY);
        String name = engine.getMetadata().getName();
        List<EngineUse> uses = pools.stream().map(pool -> use(pool, name)).toList();
        ReadyCount nodes = sum(uses.stream().map(EngineUse::storage));
        ReadyCount agents = engine.getSpec().agents() == null
                ? null
                : sum(pools.stream()
                        .filter(pool -> name.equals(pool.getSpec().transferEngine()))
                        .map(pool -> status(pool).agents()));
        Set<String> offered = offered(pools, uses);
        Finding ready = ready(engine, pools, nodes, agents, offered);
        Long generation = engine.getMetadata().getGeneration();
        return new TransferEngineStatus(
                generation,
                ready.message(),
                Conditions.merge(
                        old.conditions(), List.of(ready, progressing(pools)), generation == null ? 0 : generation, now),
                nodes,
                agents,
                List.copyOf(offered),
                pools.size(),
                pools.stream()
                        .map(pool -> pool.getMetadata().getName())
                        .limit(TransferEngineStatus.POOLS_MAX)
                        .toList());
    }

    /** Whether what an engine says of a pool may have changed with it. */
    public static boolean mayDiffer(KvCachePool now, KvCachePool before) {
        KvCachePoolStatus status = Objects.requireNonNullElse(now.getStatus(), KvCachePoolStatus.EMPTY);
        KvCachePoolStatus old = Objects.requireNonNullElse(before.getStatus(), KvCachePoolStatus.EMPTY);
        return !now.getSpec().transferEngines().equals(before.getSpec().transferEngines())
                || !Objects.equals(status.storage(), old.storage())
                || !Objects.equals(status.agents(), old.agents())
                || !Objects.equals(status.protocols(), old.protocols())
                || !status.engines().equals(old.engines())
                || !progress(status).equals(progress(old));
    }

    private static Optional<String> progress(KvCachePoolStatus status) {
        return status.conditions().stream()
                .filter(condition -> condition.type().equals(ConditionType.PROGRESSING.text()))
                .map(Condition::reason)
                .findFirst();
    }

    private static KvCachePoolStatus status(KvCachePool pool) {
        return Objects.requireNonNullElse(pool.getStatus(), KvCachePoolStatus.EMPTY);
    }

    /** Which of a pool's storage nodes use the engine: all of them where its sets do not differ in that. */
    private static EngineUse use(KvCachePool pool, String engine) {
        KvCachePoolStatus status = status(pool);
        return status.engines().isEmpty()
                ? new EngineUse(engine, status.storage(), status.protocols())
                : status.engines().stream()
                        .filter(use -> engine.equals(use.transferEngine()))
                        .findFirst()
                        .orElse(new EngineUse(engine, null, null));
    }

    /** What becomes of a changed engine is carried out, or held back, by each pool that uses it. */
    private static Finding progressing(List<KvCachePool> pools) {
        List<String> carryingOut = withReason(pools, Reason.CARRYING_OUT);
        if (!carryingOut.isEmpty()) {
            return new Finding(
                    Reason.CARRYING_OUT,
                    "The operator brings pods of %s to what their specs and this transfer engine say. status.steps of the pools says how far it is."
                            .formatted(pools(carryingOut)));
        }
        List<String> held = withReason(pools, Reason.HELD);
        return held.isEmpty()
                ? new Finding(
                        Reason.UP_TO_DATE, "No pool that uses this transfer engine has anything left to carry out.")
                : new Finding(
                        Reason.HELD,
                        "%s may have kept earlier settings: condition Progressing says what is decided first."
                                .formatted(capitalised(pools(held))));
    }

    private static List<String> withReason(List<KvCachePool> pools, Reason reason) {
        return pools.stream()
                .filter(pool -> status(pool).conditions().stream()
                        .anyMatch(condition ->
                                condition.type().equals(reason.type().text())
                                        && condition.reason().equals(reason.text())))
                .map(pool -> pool.getMetadata().getName())
                .toList();
    }

    private static String pools(List<String> names) {
        return (names.size() == 1 ? "pool " : "pools ") + NameList.of(names);
    }

    private static String capitalised(String sentence) {
        return sentence.substring(0, 1).toUpperCase(Locale.ROOT) + sentence.substring(1);
    }

    private static Finding ready(
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
                                unobserved(engine)));
    }

    private static String unobserved(TransferEngine engine) {
        return engine.getSpec().protocols().stream()
                .filter(UNOBSERVED::contains)
                .map(Protocol::word)
                .map(
                        " Only the nodes know whether they serve %1$s: see kubectl kvpool status POOL, or metric kvpool_node_serves_%1$s."
                                ::formatted)
                .collect(Collectors.joining());
    }

    private static boolean isWithoutSockets(TransferEngine engine) {
        return engine.getSpec().protocols().contains(Protocol.SHM)
                && engine.getSpec().socketDirectory() == null;
    }

    private static Set<String> wanted(TransferEngine engine) {
        return engine.getSpec().protocolsOfNodes().stream()
                .filter(protocol -> !UNOBSERVED.contains(protocol))
                .map(Protocol::word)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Protocols that all pools' storage nodes with this engine offer, as far as they were asked. */
    private static Set<String> offered(List<KvCachePool> pools, List<EngineUse> uses) {
        Set<String> common = null;
        for (int i = 0; i < pools.size(); i++) {
            boolean ofOtherSets =
                    !status(pools.get(i)).engines().isEmpty() && uses.get(i).storage() == null;
            if (pools.get(i).getSpec().storage().isEmpty() || ofOtherSets) {
                continue;
            }
            List<String> protocols = uses.get(i).protocols();
            if (common == null) {
                common = new TreeSet<>(protocols);
            } else {
                common.retainAll(protocols);
            }
        }
        return common == null ? Set.of() : common;
    }

    private static ReadyCount sum(Stream<ReadyCount> parts) {
        List<ReadyCount> counts = parts.filter(Objects::nonNull).toList();
        return ReadyCount.of(
                counts.stream().mapToInt(ReadyCount::ready).sum(),
                counts.stream().mapToInt(ReadyCount::desired).sum());
    }
}
