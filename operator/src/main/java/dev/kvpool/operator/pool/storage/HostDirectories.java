// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.VolumeType;
import dev.kvpool.operator.pool.child.StorageDaemonSet;
import dev.kvpool.operator.pool.child.part.HostDirectory;
import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedJob;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Directories of nodes in which segments and SSDs of the pool lie: which there may be, and which are removed, because their
 * storage node is gone and no set wants one there. Pure.
 *
 * @param known written down before a pod can make one
 * @param released ids of storage nodes that were let go. That is written down too, since their leader forgets them, and what it said
 *     of them, before all they have left is removed
 * @param cleanings what is to be removed now
 * @param done Jobs that have done their work, or whose directory is wanted again
 * @param matter false for a pool that has never had any
 */
public record HostDirectories(
        SortedSet<NodeDirectory> known,
        Set<String> released,
        List<Cleaning> cleanings,
        List<Job> done,
        boolean matter) {

    /**
     * One that is removed.
     *
     * @param job name of the Job that removes it
     * @param begun true when that Job is there; it cannot change
     * @param failed true when it has given up
     */
    public record Cleaning(NodeDirectory directory, String job, boolean begun, boolean failed) {
        public String sentence() {
            return failed
                    ? "Directory %s of node %s was not removed: Job %s failed and is retried in ten minutes. Its pods say why."
                            .formatted(directory.path(), directory.node(), job)
                    : "Directory %s of node %s is being removed by Job %s."
                            .formatted(directory.path(), directory.node(), job);
        }
    }

    public static HostDirectories of(PoolObservation seen, StoragePlan storage) {
        String poolId = seen.poolId();
        WrittenDirectories written = WrittenDirectories.of(seen);
        SortedSet<NodeDirectory> known = new TreeSet<>(written.known());
        Map<String, StorageSetSpec> sets = seen.spec().storage().stream()
                .filter(set -> set.volume().type() == VolumeType.HOST_PATH)
                .collect(Collectors.toMap(StorageSetSpec::name, set -> set));
        sets.values()
                .forEach(set -> storage.nodeIds(set)
                        .forEach(id -> known.addAll(NodeDirectory.of(id, HostDirectory.paths(set, poolId), poolId))));
        Map<String, Job> jobs = jobs(seen);
        List<ObservedPod> removers = seen.pods(PoolLabels.ROLE_CLEANING);
        Set<String> nodes = seen.nodes().stream().map(ObservedNode::name).collect(Collectors.toSet());
        List<Cleaning> cleanings = new ArrayList<>();
        List<Job> done = new ArrayList<>();
        Set<String> released = new TreeSet<>();
        Set<String> back = new TreeSet<>();
        for (NodeDirectory directory : List.copyOf(known)) {
            String name = directory.jobName(seen.names());
            Optional<Job> job = Optional.ofNullable(jobs.get(name));
            boolean finished =
                    job.filter(it -> ObservedJob.isDone(it, removers)).isPresent();
            boolean wanted = isWanted(seen, sets, directory, poolId);
            if (wanted && isPlaced(seen, storage, directory)) {
                back.add(directory.id());
            }
            if (isGivenUp(written, storage, directory)) {
                released.add(directory.id());
            }
            if (wanted || isInUse(seen, directory)) {
                job.ifPresent(done::add);
            } else if (finished || !nodes.contains(directory.node())) {
                job.ifPresent(done::add);
                known.remove(directory);
            } else if (job.isPresent() || !(storage.keeps(directory.id()) || mayReturn(seen, storage, directory))) {
                boolean failed =
                        job.filter(it -> ObservedJob.is(it, ObservedJob.FAILED)).isPresent();
                cleanings.add(new Cleaning(directory, name, job.isPresent(), failed));
            }
        }
        released.removeAll(back);
        return new HostDirectories(known, released, cleanings, done, !known.isEmpty() || written.matter());
    }

    /** As they are written down. */
    public SortedMap<String, String> list() {
        return NodeDirectory.list(known, released);
    }

    /** Whether a pool has written down any; then all nodes matter, also when no set of the spec has directories any more. */
    public static boolean areKnown(List<HasMetadata> children) {
        return children.stream()
                .flatMap(child -> DirectoryList.of(child).stream())
                .anyMatch(list -> !list.paths().isEmpty());
    }

    /** Also when the node repels pods just now: what it holds is found again afterwards. A set may have come back elsewhere. */
    private static boolean isWanted(
            PoolObservation seen, Map<String, StorageSetSpec> sets, NodeDirectory directory, String poolId) {
        StorageSetSpec set = sets.get(directory.set());
        return set != null
                && HostDirectory.paths(set, poolId).contains(directory.path())
                && seen.nodes().stream()
                        .filter(node -> node.name().equals(directory.node()))
                        .anyMatch(node -> new NodeFit(set, false).selects(node));
    }

    /** A pod with the settings of its DaemonSet is on what that says. Which directory any other is on is not known. */
    private static boolean isInUse(PoolObservation seen, NodeDirectory directory) {
        Set<String> elsewhere = seen.storageWorkloads(DaemonSet.class).stream()
                .filter(stored -> PoolObservation.setName(stored).equals(directory.set()))
                .filter(stored -> StorageDaemonSet.directories(stored)
                        .filter(paths -> !paths.contains(directory.path()))
                        .isPresent())
                .map(stored -> stored.getSpec().getTemplate().getMetadata().getAnnotations())
                .map(annotations -> annotations.getOrDefault(PoolLabels.SETTINGS, ""))
                .collect(Collectors.toSet());
        return seen.podsOfSet(directory.set(), true).stream()
                .filter(pod -> pod.nodeId().equals(directory.id()))
                .anyMatch(pod -> pod.leaving() || !elsewhere.contains(pod.settings()));
    }

    /** A DaemonSet that goes when all of its storage nodes may may still put a pod there. */
    private static boolean mayReturn(PoolObservation seen, StoragePlan storage, NodeDirectory directory) {
        return !isPlaced(seen, storage, directory)
                && seen.storageWorkloads(DaemonSet.class).stream()
                        .filter(stored -> PoolObservation.setName(stored).equals(directory.set()))
                        .anyMatch(stored -> StorageDaemonSet.directories(stored)
                                .filter(paths -> paths.contains(directory.path()))
                                .isPresent());
    }

    /** Its set has the name and volumes of one in the spec. */
    private static boolean isPlaced(PoolObservation seen, StoragePlan storage, NodeDirectory directory) {
        return seen.spec().storage().stream()
                .filter(set -> set.name().equals(directory.set()))
                .anyMatch(set -> storage.placement(set).isPresent());
    }

    /** For good: what said so may not be there any more when a Job has to be made again. */
    private static boolean isGivenUp(WrittenDirectories written, StoragePlan storage, NodeDirectory directory) {
        String id = directory.id();
        return storage.letsGo(id) || (written.released().contains(id) && !storage.keeps(id));
    }

    private static Map<String, Job> jobs(PoolObservation seen) {
        return ObservedJob.withRole(seen.children(), PoolLabels.ROLE_CLEANING).stream()
                .collect(Collectors.toMap(job -> job.getMetadata().getName(), job -> job));
    }
}
