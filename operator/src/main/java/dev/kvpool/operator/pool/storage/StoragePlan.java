// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.child.StorageDaemonSet;
import dev.kvpool.operator.pool.child.part.NodePlacement;
import dev.kvpool.operator.pool.child.part.StorageClaims;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Which storage nodes there are now: those of the spec's sets, and unwanted ones that are not empty yet. Pure. */
public final class StoragePlan {
    private final PoolObservation seen;
    private final WrittenDirectories written;
    private final RemovedPerNode removedPerNode;
    private final Set<String> released;
    private final Map<String, NumberedSet> numbered = new LinkedHashMap<>();
    private final Map<String, PerNodeSet> perNode = new LinkedHashMap<>();

    /** Sets of the spec whose name another one still has, with other volumes. */
    private final Set<String> displaced = new HashSet<>();

    private final List<String> expectedNodes = new ArrayList<>();
    private final List<HasMetadata> delete = new ArrayList<>();
    private final List<Unwanted> unwanted = new ArrayList<>();
    private final List<String> waiting = new ArrayList<>();
    private final List<String> leftOut = new ArrayList<>();

    private StoragePlan(PoolObservation seen, Set<String> released) {
        this.seen = seen;
        this.written = WrittenDirectories.of(seen);
        this.removedPerNode = new RemovedPerNode(seen, written);
        this.released = released;
    }

    /**
     * Decides.
     *
     * @param released ids of storage nodes whose pods may go
     */
    public static StoragePlan of(PoolObservation seen, Set<String> released) {
        StoragePlan plan = new StoragePlan(seen, released);
        for (StorageSetSpec set : seen.spec().storage()) {
            if (plan.isInTheWay(set)) {
                plan.displaced.add(set.name());
            } else if (set.perNode() == null) {
                plan.add(set, NumberedSet.of(set, seen, released));
            } else {
                plan.add(set, PerNodeSet.of(set, seen, plan.written, released));
            }
        }
        seen.storageWorkloads(StatefulSet.class).stream()
                .filter(set -> !plan.numbered.containsKey(PoolObservation.setName(set)))
                .forEach(set -> plan.removed(set, plan.podIds(set)));
        seen.storageWorkloads(DaemonSet.class).stream()
                .filter(set -> !plan.perNode.containsKey(PoolObservation.setName(set)))
                .forEach(set -> plan.removed(set, plan.runningIds(set)));
        plan.leftBehind();
        return plan;
    }

    /** Nodes of a set of the spec that has a number of them; empty while the set cannot be made. */
    public Optional<Integer> replicas(StorageSetSpec set) {
        return Optional.ofNullable(numbered.get(set.name())).map(NumberedSet::replicas);
    }

    /** Where the nodes of a perNode set of the spec may be; empty while the set cannot be made. */
    public Optional<NodePlacement> placement(StorageSetSpec set) {
        return Optional.ofNullable(perNode.get(set.name())).map(PerNodeSet::placement);
    }

    /** Ids of the storage nodes of a perNode set of the spec; none while the set cannot be made. */
    public List<String> nodeIds(StorageSetSpec set) {
        return Optional.ofNullable(perNode.get(set.name()))
                .map(PerNodeSet::nodeIds)
                .orElse(List.of());
    }

    /** Ids of all nodes that shall exist now. */
    public List<String> expectedNodes() {
        return List.copyOf(expectedNodes);
    }

    /** StatefulSets and DaemonSets that shall go. */
    public List<HasMetadata> delete() {
        return List.copyOf(delete);
    }

    /** Storage nodes that the spec does not want, released or not, those that go first in front. */
    public List<Unwanted> unwanted() {
        return List.copyOf(unwanted);
    }

    /** Whether a storage node that the spec does not want may not go yet. */
    boolean keeps(String id) {
        return !released.contains(id) && isUnwanted(id);
    }

    /** Whether a storage node that the spec does not want may go. */
    boolean letsGo(String id) {
        return released.contains(id) && isUnwanted(id);
    }

    private boolean isUnwanted(String id) {
        return unwanted.stream().anyMatch(node -> node.id().equals(id));
    }

    /** Sentences about what is not done before storage nodes are empty. */
    public List<String> waiting() {
        return List.copyOf(waiting);
    }

    /** Sentences about Kubernetes nodes that a perNode set selects and that get no storage node. */
    public List<String> leftOut() {
        return List.copyOf(leftOut);
    }

    private void add(StorageSetSpec set, NumberedSet decided) {
        numbered.put(set.name(), decided);
        expectedNodes.addAll(decided.nodeIds());
        waiting.addAll(decided.waiting());
        unwanted.addAll(decided.unwanted());
    }

    private void add(StorageSetSpec set, PerNodeSet decided) {
        perNode.put(set.name(), decided);
        expectedNodes.addAll(decided.nodeIds());
        waiting.addAll(decided.waiting());
        unwanted.addAll(decided.unwanted());
        leftOut.addAll(decided.leftOut());
    }

    private void removed(HasMetadata workload, List<String> ids) {
        List<Unwanted> going = unwanted(workload);
        unwanted.addAll(going);
        List<Unwanted> staying =
                going.stream().filter(node -> !released.contains(node.id())).toList();
        if (staying.isEmpty()) {
            delete.add(workload);
            return;
        }
        Set<String> expected = new LinkedHashSet<>(ids);
        staying.forEach(node -> expected.add(node.id()));
        expectedNodes.addAll(expected);
        waiting.add("Storage set %s is no longer in the spec%s and stays until %s %s empty.%s"
                .formatted(
                        PoolObservation.setName(workload),
                        inAnotherForm(workload),
                        NameList.of(staying.stream().map(Unwanted::id).sorted().toList()),
                        staying.size() == 1 ? "is" : "are",
                        Unwanted.remedy(staying)));
    }

    private void leftBehind() {
        List<Unwanted> going = removedPerNode.withoutDaemonSet(perNode.keySet());
        unwanted.addAll(going);
        List<Unwanted> staying =
                going.stream().filter(node -> !released.contains(node.id())).toList();
        staying.forEach(node -> expectedNodes.add(node.id()));
        if (!staying.isEmpty()) {
            waiting.add(RemovedPerNode.waiting(staying));
        }
    }

    /** Of a set that the spec does not want. A StatefulSet that is being deleted already has nothing to wait for. */
    private List<Unwanted> unwanted(HasMetadata workload) {
        String name = PoolObservation.setName(workload);
        if (workload instanceof DaemonSet set) {
            return removedPerNode.of(set);
        }
        if (workload instanceof StatefulSet set
                && outlivesPods(set)
                && set.getMetadata().getDeletionTimestamp() == null) {
            return NumberedSet.unwanted(
                    seen.podsOfSet(name, false),
                    0,
                    NumberedSet.replicasOf(set),
                    ordinal -> seen.names().storagePod(name, ordinal));
        }
        boolean outlivesPods = outlivesPods(workload);
        return running(workload).stream()
                .map(pod -> Unwanted.of(pod, outlivesPods))
                .toList();
    }

    /** Whether what its pods hold is there again when they are. */
    public static boolean outlivesPods(HasMetadata workload) {
        return switch (workload) {
            case StatefulSet set -> NumberedSet.outlivesPods(set);
            case DaemonSet set -> PerNodeSet.outlivesPods(set.getSpec().getTemplate());
            default -> false;
        };
    }

    private boolean isInTheWay(StorageSetSpec set) {
        if (set.perNode() != null) {
            return seen.storageWorkloads(DaemonSet.class).stream()
                    .filter(stored -> PoolObservation.setName(stored).equals(set.name()))
                    .anyMatch(stored -> !StorageDaemonSet.hasVolumesOf(stored, set));
        }
        return seen.storageWorkloads(StatefulSet.class).stream()
                .filter(stored -> PoolObservation.setName(stored).equals(set.name()))
                .anyMatch(
                        stored -> !StorageClaims.areThoseOf(stored, seen.names().pool(), set));
    }

    /** A set may come back under its name with another volume, or with perNode instead of replicas, or the other way round. */
    private String inAnotherForm(HasMetadata workload) {
        String name = PoolObservation.setName(workload);
        if (displaced.contains(name)) {
            return " with the volume that it has";
        }
        if (workload instanceof StatefulSet) {
            return perNode.containsKey(name) ? " with replicas" : "";
        }
        return numbered.containsKey(name) ? " with perNode" : "";
    }

    private List<String> podIds(StatefulSet set) {
        List<String> ids = new ArrayList<>();
        for (int ordinal = 0; ordinal < NumberedSet.replicasOf(set); ordinal++) {
            ids.add(seen.names().storagePod(PoolObservation.setName(set), ordinal));
        }
        return ids;
    }

    private List<String> runningIds(DaemonSet set) {
        return running(set).stream().map(ObservedPod::nodeId).toList();
    }

    private List<ObservedPod> running(HasMetadata workload) {
        return seen.podsOfSet(PoolObservation.setName(workload), workload instanceof DaemonSet).stream()
                .filter(ObservedPod::started)
                .toList();
    }
}
