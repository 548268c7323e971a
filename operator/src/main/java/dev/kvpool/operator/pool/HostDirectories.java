// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.StorageSetSpec;
import dev.kvpool.api.v1alpha1.VolumeType;
import dev.kvpool.operator.pool.child.HostDirectory;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Directories of nodes in which segments of the pool lie: which there may be, and which are removed, because their storage
 * node is gone and no set wants one there. Pure.
 *
 * @param known path by id of the storage node, written down before a pod can make one
 * @param cleanings what is to be removed now
 * @param done Jobs that have done their work, or whose directory is wanted again
 * @param matter false for a pool that has never had any
 */
record HostDirectories(SortedMap<String, String> known, List<Cleaning> cleanings, List<Job> done, boolean matter) {

    private static final Pattern ID = Pattern.compile("[a-z0-9-]+[.][a-z0-9.-]+");
    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+");

    /**
     * One that is removed.
     *
     * @param id of the storage node that had it
     * @param job name of the Job that removes it
     * @param begun true when that Job is there; it cannot change
     * @param failed true when it has given up
     */
    record Cleaning(String id, String node, String path, String job, boolean begun, boolean failed) {
        String sentence() {
            return failed
                    ? "Directory %s of node %s is still there: Job %s failed and is tried again in ten minutes; its pods say why."
                            .formatted(path, node, job)
                    : "Directory %s of node %s is being removed by Job %s.".formatted(path, node, job);
        }
    }

    static HostDirectories of(PoolObservation seen, StoragePlan storage, String poolId) {
        Map<String, String> written = written(seen.names(), seen.children());
        SortedMap<String, String> known = new TreeMap<>(written);
        known.entrySet().removeIf(entry -> !isOurs(entry.getKey(), entry.getValue(), poolId));
        Map<String, StorageSetSpec> sets = seen.spec().storage().stream()
                .filter(set -> set.volume().type() == VolumeType.HOST_PATH)
                .collect(Collectors.toMap(StorageSetSpec::name, set -> set));
        sets.values()
                .forEach(set -> storage.nodeIds(set).forEach(id -> known.put(id, HostDirectory.path(set, poolId))));
        Map<String, Job> jobs = jobs(seen);
        Set<String> nodes = seen.nodes().stream().map(ObservedNode::name).collect(Collectors.toSet());
        List<Cleaning> cleanings = new ArrayList<>();
        List<Job> done = new ArrayList<>();
        for (Map.Entry<String, String> entry : new TreeMap<>(known).entrySet()) {
            String id = entry.getKey();
            Optional<Job> job = Optional.ofNullable(jobs.get(jobName(seen, id)));
            boolean finished =
                    job.filter(it -> ObservedJob.is(it, ObservedJob.COMPLETE)).isPresent();
            if (isWanted(seen, sets, id) || hasPod(seen, id)) {
                job.ifPresent(done::add);
            } else if (finished || !nodes.contains(node(id))) {
                job.ifPresent(done::add);
                known.remove(id);
            } else {
                boolean failed =
                        job.filter(it -> ObservedJob.is(it, ObservedJob.FAILED)).isPresent();
                cleanings.add(new Cleaning(id, node(id), entry.getValue(), jobName(seen, id), job.isPresent(), failed));
            }
        }
        boolean matter = !known.isEmpty() || !written.isEmpty();
        return new HostDirectories(known, cleanings, done, matter);
    }

    /** What the pool has written down; needed also when no set of the spec has directories any more. */
    static boolean areKnown(KvCachePool pool, List<HasMetadata> children) {
        return !written(
                        new PoolNames(
                                pool.getMetadata().getName(), pool.getMetadata().getNamespace()),
                        children)
                .isEmpty();
    }

    private static Map<String, String> written(PoolNames names, List<HasMetadata> children) {
        return children.stream()
                .filter(child -> child instanceof ConfigMap
                        && child.getMetadata().getName().equals(names.directories()))
                .map(child -> Objects.requireNonNullElse(((ConfigMap) child).getData(), Map.<String, String>of()))
                .findFirst()
                .orElse(Map.of());
    }

    /** What is written down is trusted no further than that: a Job removes as root what only this pool can have made. */
    private static boolean isOurs(String id, String path, String poolId) {
        return ID.matcher(id).matches()
                && PATH.matcher(path).matches()
                && path.endsWith("/%s.%s".formatted(poolId, set(id)));
    }

    /** Also when the node repels pods just now: what it holds is found again afterwards. */
    private static boolean isWanted(PoolObservation seen, Map<String, StorageSetSpec> sets, String id) {
        StorageSetSpec set = sets.get(set(id));
        return set != null
                && seen.nodes().stream()
                        .filter(node -> node.name().equals(node(id)))
                        .anyMatch(node -> new NodeFit(set, false).selects(node));
    }

    private static boolean hasPod(PoolObservation seen, String id) {
        return seen.podsOfSet(set(id), true).stream()
                .anyMatch(pod -> pod.nodeId().equals(id));
    }

    private static Map<String, Job> jobs(PoolObservation seen) {
        return seen.children().stream()
                .filter(Job.class::isInstance)
                .map(Job.class::cast)
                .filter(job -> ObservedJob.hasRole(job, PoolLabels.ROLE_CLEANING))
                .collect(Collectors.toMap(job -> job.getMetadata().getName(), job -> job));
    }

    /** Node names are longer than a Job's may be. */
    private static String jobName(PoolObservation seen, String id) {
        String digest =
                UUID.nameUUIDFromBytes(id.getBytes(StandardCharsets.UTF_8)).toString();
        return seen.names().cleaning(digest.substring(0, 8));
    }

    /** Sets have no dot in their names. */
    private static String set(String id) {
        return id.substring(0, id.indexOf('.'));
    }

    private static String node(String id) {
        return id.substring(id.indexOf('.') + 1);
    }
}
