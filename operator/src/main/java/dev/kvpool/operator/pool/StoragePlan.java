// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.DataLossPolicy;
import dev.kvpool.api.v1alpha1.StorageSetSpec;
import dev.kvpool.operator.master.PoolReport;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How many storage nodes each set has now. Growing is always done. Shrinking ends the memory of pods, and is done only
 * where the spec allows that or the pods never ran. Pure.
 */
final class StoragePlan {
    private final PoolObservation seen;
    private final boolean mayLoseBytes;
    private final Map<String, Integer> replicas = new LinkedHashMap<>();
    private final List<String> expectedNodes = new ArrayList<>();
    private final List<StatefulSet> delete = new ArrayList<>();
    private final List<ObservedPod> emptyPods = new ArrayList<>();
    private final List<String> heldBack = new ArrayList<>();

    private StoragePlan(PoolObservation seen) {
        this.seen = seen;
        this.mayLoseBytes = seen.spec().onDataLoss() == DataLossPolicy.REPLACE;
    }

    static StoragePlan of(PoolObservation seen) {
        StoragePlan plan = new StoragePlan(seen);
        for (StorageSetSpec set : seen.spec().storage()) {
            plan.size(set);
        }
        plan.removedSets();
        return plan;
    }

    /** Nodes of a set of the spec. */
    int replicas(StorageSetSpec set) {
        return replicas.get(set.name());
    }

    /** Ids of all nodes that shall exist now. */
    List<String> expectedNodes() {
        return List.copyOf(expectedNodes);
    }

    List<StatefulSet> delete() {
        return List.copyOf(delete);
    }

    List<ObservedPod> emptyPods() {
        return List.copyOf(emptyPods);
    }

    List<String> heldBack() {
        return List.copyOf(heldBack);
    }

    private void size(StorageSetSpec set) {
        Optional<StatefulSet> current = current(set.name());
        int have = current.map(StoragePlan::replicasOf).orElse(0);
        int want = set.replicas();
        List<ObservedPod> losing = seen.podsOfSet(set.name()).stream()
                .filter(pod -> pod.ordinal() >= want && pod.ordinal() < have && pod.started())
                .toList();
        int planned = want;
        if (have > want && !losing.isEmpty() && !mayLoseBytes) {
            planned = have;
            heldBack.add("Storage set %s keeps %d nodes instead of %d: removing %s would lose %s."
                    .formatted(set.name(), have, want, names(losing), loss(losing)));
        }
        replicas.put(set.name(), planned);
        expectedNodes.addAll(seen.names().storagePods(set, planned));
        current.ifPresent(this::outdatedPods);
    }

    /** Pods made from an older template than the StatefulSet has now. */
    private void outdatedPods(StatefulSet set) {
        String revision = set.getStatus() == null ? null : set.getStatus().getUpdateRevision();
        if (revision == null || mayLoseBytes) {
            return;
        }
        List<ObservedPod> outdated = seen.podsOfSet(setName(set)).stream()
                .filter(pod -> !pod.revision().equals(revision))
                .toList();
        outdated.stream().filter(pod -> !pod.started()).forEach(emptyPods::add);
        List<ObservedPod> losing =
                outdated.stream().filter(ObservedPod::started).toList();
        if (!losing.isEmpty()) {
            heldBack.add("%s still %s with earlier settings: replacing %s would lose %s."
                    .formatted(
                            names(losing),
                            losing.size() == 1 ? "runs" : "run",
                            losing.size() == 1 ? "it" : "them",
                            loss(losing)));
        }
    }

    private void removedSets() {
        for (StatefulSet set : seen.storageSets()) {
            String name = setName(set);
            if (replicas.containsKey(name)) {
                continue;
            }
            List<ObservedPod> losing =
                    seen.podsOfSet(name).stream().filter(ObservedPod::started).toList();
            if (losing.isEmpty() || mayLoseBytes) {
                delete.add(set);
                continue;
            }
            for (int ordinal = 0; ordinal < replicasOf(set); ordinal++) {
                expectedNodes.add(seen.names().storagePod(name, ordinal));
            }
            heldBack.add("Storage set %s is no longer in the spec and stays: removing %s would lose %s."
                    .formatted(name, names(losing), loss(losing)));
        }
    }

    private Optional<StatefulSet> current(String set) {
        return seen.storageSets().stream()
                .filter(candidate -> setName(candidate).equals(set))
                .findFirst();
    }

    private static String setName(StatefulSet set) {
        return set.getMetadata().getLabels().get(PoolLabels.SET);
    }

    private static int replicasOf(StatefulSet set) {
        return set.getSpec().getReplicas() == null ? 0 : set.getSpec().getReplicas();
    }

    private static String names(List<ObservedPod> pods) {
        return NameList.of(pods.stream().map(ObservedPod::name).sorted().toList());
    }

    /** What the given nodes hold, rounded, so that the sentence stays the same while little changes. */
    private String loss(List<ObservedPod> pods) {
        List<String> names = pods.stream().map(ObservedPod::name).toList();
        Optional<PoolReport> report = seen.leaderReport();
        if (report.isEmpty()) {
            return "what they hold, which no leader can tell now";
        }
        List<PoolReport.Node> nodes = report.get().nodes().stream()
                .filter(node -> names.contains(node.id()))
                .toList();
        long bytes = nodes.stream().mapToLong(PoolReport.Node::usedBytes).sum();
        long objects = nodes.stream().mapToLong(PoolReport.Node::objects).sum();
        return "about %s in %d objects".formatted(ByteAmount.coarse(bytes), Rounding.twoDigits(objects));
    }
}
