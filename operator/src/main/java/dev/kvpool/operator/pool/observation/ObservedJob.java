// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;

/** What a Job is for and how it ended. Pure. */
public final class ObservedJob {
    public static final String COMPLETE = "Complete";
    public static final String FAILED = "Failed";

    private ObservedJob() {}

    /** The Jobs among a pool's objects that are for this. */
    public static List<Job> withRole(List<HasMetadata> children, String role) {
        return children.stream()
                .filter(Job.class::isInstance)
                .map(Job.class::cast)
                .filter(job -> hasRole(job, role))
                .toList();
    }

    public static boolean hasRole(Job job, String role) {
        return role.equals(job.getMetadata().getLabels().get(PoolLabels.ROLE));
    }

    /**
     * Whether it has done its work. A sidecar that goes on keeps a Job from being complete.
     *
     * @param pods of Jobs of the pool
     */
    public static boolean isDone(Job job, List<ObservedPod> pods) {
        return is(job, COMPLETE)
                || pods.stream()
                        .filter(pod -> !pod.leaving()
                                && pod.name().startsWith(job.getMetadata().getName() + "-"))
                        .anyMatch(pod ->
                                pod.ended().filter(ended -> ended.code() == 0).isPresent());
    }

    /** Whether a condition of the Job is true. */
    public static boolean is(Job job, String condition) {
        return job.getStatus() != null
                && job.getStatus().getConditions().stream()
                        .anyMatch(it -> condition.equals(it.getType()) && "True".equals(it.getStatus()));
    }
}
