// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.part.ContainerResources;
import dev.kvpool.operator.pool.child.part.PodSecurity;
import dev.kvpool.operator.pool.child.part.ScratchVolume;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.batch.v1.Job;

/** Brings an image to a Kubernetes node, by running something there that ends at once. */
public final class PullJob {
    private static final int TRIES_MORE = 2;

    /** Longer than the upgrade that waits for it: what has ended says which node has the image. */
    private static final int KEPT_S = 6 * 3600;

    private PullJob() {}

    /**
     * Builds the Job.
     *
     * @param image the image
     * @param node the Kubernetes node
     */
    public static Job of(PoolBlueprint pool, String image, String node) {
        JobTerms terms = JobTerms.of(pool, pool.names().pull(node), PoolLabels.ROLE_PULL, image);
        // Past the scheduler: the node may be cordoned, tainted or full, and pods of the pool are there all the same.
        PodSpecBuilder pod = OneTimeJob.pod(
                        terms, pool.platform().givesUser(), container(terms), ScratchVolume.volume())
                .withNodeName(node)
                .addNewToleration()
                .withOperator("Exists")
                .endToleration();
        return OneTimeJob.of(terms, TRIES_MORE, KEPT_S, pod.build());
    }

    private static Container container(JobTerms terms) {
        return new ContainerBuilder()
                .withName("pull")
                .withImage(terms.image())
                .withImagePullPolicy(terms.pullPolicy())
                .withArgs("version")
                .withResources(new ContainerResources()
                        .request("cpu", new Quantity("10m"))
                        .request("memory", new Quantity("64Mi"))
                        .limit("memory", new Quantity("256Mi"))
                        .build())
                .withSecurityContext(PodSecurity.container())
                .withVolumeMounts(ScratchVolume.mount())
                .build();
    }
}
