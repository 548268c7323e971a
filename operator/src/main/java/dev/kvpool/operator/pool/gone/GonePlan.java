// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.gone;

import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.child.CleaningJob;
import dev.kvpool.operator.pool.child.JobTerms;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.ObservedJob;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.storage.NodeDirectory;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is done now about the directories of a pool that is gone. Pure.
 *
 * @param remaining those that may still be there
 * @param jobs that are to be made
 * @param notices what is worth an event
 */
public record GonePlan(List<NodeDirectory> remaining, List<Job> jobs, List<Notice> notices) {
    /** Jobs that may be under way at once for one pool, on nodes that are ready: each is a pod, and a pool may have been on every node. */
    private static final int JOBS_MAX = 32;

    /**
     * Decides.
     *
     * @param image what the Jobs run: the operator's, because a user who can write a ConfigMap could name another one
     */
    public static GonePlan of(GonePool seen, String image) {
        Map<String, Job> known = new HashMap<>();
        seen.jobs().forEach(job -> known.put(job.getMetadata().getName(), job));
        PoolNames names =
                new PoolNames(seen.list().pool(), seen.written().getMetadata().getNamespace());
        List<ObservedPod> removers = seen.pods().stream().map(ObservedPod::of).toList();
        List<NodeDirectory> remaining = new ArrayList<>();
        List<Job> jobs = new ArrayList<>();
        List<Notice> notices = new ArrayList<>();
        int underWay = 0;
        for (NodeDirectory directory : directories(seen)) {
            String name = directory.jobName(names);
            Optional<Job> job = Optional.ofNullable(known.get(name));
            if (job.filter(it -> ObservedJob.isDone(it, removers)).isPresent()) {
                continue;
            }
            remaining.add(directory);
            if (job.filter(it -> ObservedJob.is(it, ObservedJob.FAILED)).isPresent()) {
                notices.add(failed(directory, name));
            } else if (job.isPresent()) {
                // On a machine that is dead it does not end: it keeps no other node waiting.
                underWay += seen.isReady(directory) ? 1 : 0;
            } else if (underWay < JOBS_MAX && seen.isReady(directory) && !seen.uses(directory)) {
                underWay++;
                jobs.add(CleaningJob.of(terms(seen, name, image), directory.node(), directory.path()));
                notices.add(begun(directory, name));
            }
        }
        return new GonePlan(remaining, jobs, notices);
    }

    /** Whether no directory is left that may still be there. */
    public boolean isFinished() {
        return remaining.isEmpty();
    }

    /** Those on nodes that the cluster still has, as far as they can be believed. */
    private static List<NodeDirectory> directories(GonePool seen) {
        return seen.list().paths().entrySet().stream()
                .flatMap(
                        entry -> NodeDirectory.written(
                                entry.getKey(), entry.getValue(), seen.list().poolId())
                                .stream())
                .filter(directory -> seen.nodes().contains(directory.node()))
                .toList();
    }

    private static JobTerms terms(GonePool seen, String name, String image) {
        return new JobTerms(
                metadata(seen, name),
                image,
                JobTerms.IF_NOT_PRESENT,
                seen.list().pullSecrets());
    }

    /** The list owns its Jobs, so they go with it. */
    private static ObjectMeta metadata(GonePool seen, String name) {
        ConfigMap list = seen.written();
        return new ObjectMetaBuilder()
                .withName(name)
                .withNamespace(list.getMetadata().getNamespace())
                .withLabels(PoolLabels.ofRole(seen.list().pool(), PoolLabels.ROLE_CLEANING))
                .addNewOwnerReference()
                .withApiVersion(list.getApiVersion())
                .withKind(list.getKind())
                .withName(list.getMetadata().getName())
                .withUid(list.getMetadata().getUid())
                .endOwnerReference()
                .build();
    }

    private static Notice begun(NodeDirectory directory, String job) {
        return new Notice(
                EventReason.DIRECTORY_GOES,
                "The pool is deleted; directory %s of node %s is removed by Job %s."
                        .formatted(directory.path(), directory.node(), job));
    }

    private static Notice failed(NodeDirectory directory, String job) {
        return new Notice(
                EventReason.DIRECTORY_REMAINS,
                "Directory %s of node %s was not removed: Job %s failed and is retried in ten minutes. Its pods say why."
                        .formatted(directory.path(), directory.node(), job));
    }
}
