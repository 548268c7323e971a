// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import io.fabric8.kubernetes.api.model.batch.v1.Job;

/** What a Job is for and how it ended. Pure. */
public final class ObservedJob {
    public static final String COMPLETE = "Complete";
    public static final String FAILED = "Failed";

    private ObservedJob() {}

    static boolean hasRole(Job job, String role) {
        return role.equals(job.getMetadata().getLabels().get(PoolLabels.ROLE));
    }

    /** Whether a condition of the Job is true. */
    public static boolean is(Job job, String condition) {
        return job.getStatus() != null
                && job.getStatus().getConditions().stream()
                        .anyMatch(it -> condition.equals(it.getType()) && "True".equals(it.getStatus()));
    }
}
