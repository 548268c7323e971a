// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.child.part.PodSecurity;
import dev.kvpool.operator.pool.naming.OwnContainer;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;

/** What Jobs of a pool have in common: one container that does one thing and knows nothing of the API server. */
final class OneTimeJob {
    private OneTimeJob() {}

    /** The pod of such a Job. */
    static PodSpecBuilder pod(JobTerms terms, boolean platformUser, Container container, Volume volume) {
        return new PodSpecBuilder()
                .withRestartPolicy("Never")
                .withAutomountServiceAccountToken(false)
                .withEnableServiceLinks(false)
                .withImagePullSecrets(terms.pullSecrets())
                .withSecurityContext(PodSecurity.pod(platformUser))
                .withContainers(container)
                .withVolumes(volume);
    }

    /**
     * The Job.
     *
     * @param triesMore after the first that failed
     * @param keptSeconds after its end, whatever that was
     */
    static Job of(JobTerms terms, int triesMore, int keptSeconds, PodSpec pod) {
        return new JobBuilder()
                .withMetadata(terms.metadata())
                .withNewSpec()
                .withBackoffLimit(triesMore)
                .withTtlSecondsAfterFinished(keptSeconds)
                .withNewTemplate()
                .withNewMetadata()
                .withLabels(terms.metadata().getLabels())
                .withAnnotations(OwnContainer.note(terms.image()))
                .endMetadata()
                .withSpec(pod)
                .endTemplate()
                .endSpec()
                .build();
    }
}
