// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.status.EngineUse;
import dev.kvpool.api.v1alpha1.status.ReadyCount;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** Counts the storage nodes of a pool by the transfer engine they use, where sets differ in that. Pure. */
final class EngineUses {
    private final PoolObservation seen;
    private final Set<String> expected;

    private EngineUses(PoolObservation seen, Set<String> expected) {
        this.seen = seen;
        this.expected = expected;
    }

    /**
     * In order of the sets; empty when all sets use the pool's.
     *
     * @param expected ids of the storage nodes that the pool shall have
     */
    static List<EngineUse> of(PoolObservation seen, Set<String> expected) {
        if (seen.spec().storage().stream().allMatch(set -> set.transferEngine() == null)) {
            return List.of();
        }
        EngineUses uses = new EngineUses(seen, expected);
        Map<String, List<StorageSetSpec>> byEngine = new LinkedHashMap<>();
        seen.spec()
                .storage()
                .forEach(set -> byEngine.computeIfAbsent(
                                Objects.requireNonNullElse(seen.spec().transferEngine(set), ""),
                                none -> new ArrayList<>())
                        .add(set));
        return byEngine.entrySet().stream()
                .map(entry -> uses.use(entry.getKey(), entry.getValue()))
                .toList();
    }

    private EngineUse use(String engine, List<StorageSetSpec> sets) {
        List<String> ids = expected.stream()
                .filter(id -> sets.stream().anyMatch(set -> isOf(set, id)))
                .toList();
        List<PoolReport.Node> serving = seen.leaderReport().stream()
                .flatMap(report -> report.nodes().stream())
                .filter(node -> node.serves() && ids.contains(node.id()))
                .toList();
        int ready = seen.leaderReport().isPresent()
                ? serving.size()
                : (int) seen.pods(PoolLabels.ROLE_STORAGE).stream()
                        .filter(pod -> pod.ready() && ids.contains(pod.nodeId()))
                        .count();
        return new EngineUse(engine.isEmpty() ? null : engine, ReadyCount.of(ready, ids.size()), common(serving));
    }

    /** By its id, as storage nodes that are away have no pod. */
    private boolean isOf(StorageSetSpec set, String id) {
        String prefix = set.perNode() == null ? seen.names().storageSet(set.name()) + "-" : set.name() + ".";
        return id.startsWith(prefix)
                && (set.perNode() != null || id.substring(prefix.length()).matches("[0-9]+"));
    }

    private static List<String> common(List<PoolReport.Node> serving) {
        if (serving.isEmpty()) {
            return List.of();
        }
        Set<String> common = new TreeSet<>(serving.getFirst().build().protocols());
        serving.forEach(node -> common.retainAll(node.build().protocols()));
        return List.copyOf(common);
    }
}
