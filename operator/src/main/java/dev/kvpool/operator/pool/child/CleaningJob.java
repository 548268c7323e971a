// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.child.part.ContainerResources;
import dev.kvpool.operator.pool.child.part.PodSecurity;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.batch.v1.Job;

/** Removes a directory of a node, on that node. */
public final class CleaningJob {
    private static final int TRIES_MORE = 6;

    /** Then Kubernetes removes one that failed, and the operator begins again. */
    private static final int KEPT_S = 600;

    private static final String MOUNT = "/directories";
    private static final String VOLUME = "directories";

    private CleaningJob() {}

    /**
     * Builds the Job.
     *
     * @param node the Kubernetes node
     * @param path absolute path of the directory, at least two levels deep
     */
    public static Job of(JobTerms terms, String node, String path) {
        int last = path.lastIndexOf('/');
        Volume parent = new VolumeBuilder()
                .withName(VOLUME)
                .withNewHostPath()
                .withPath(path.substring(0, last))
                .withType("DirectoryOrCreate")
                .endHostPath()
                .build();
        // Past the scheduler: the node may be cordoned, tainted or full.
        PodSpecBuilder pod = OneTimeJob.pod(terms, false, container(terms, MOUNT + path.substring(last)), parent)
                .withNodeName(node)
                .addNewToleration()
                .withOperator("Exists")
                .endToleration();
        return OneTimeJob.of(terms, TRIES_MORE, KEPT_S, pod.build());
    }

    private static Container container(JobTerms terms, String mounted) {
        return new ContainerBuilder()
                .withName(OwnContainer.name(PoolLabels.ROLE_CLEANING))
                .withImage(terms.image())
                .withImagePullPolicy(terms.pullPolicy())
                .withArgs("remove-directories", mounted)
                .withResources(new ContainerResources()
                        .request("cpu", new Quantity("10m"))
                        .exactly("memory", new Quantity("64Mi"))
                        .build())
                // The directory is its storage node's alone.
                .withSecurityContext(PodSecurity.root("DAC_OVERRIDE"))
                .addNewVolumeMount()
                .withName(VOLUME)
                .withMountPath(MOUNT)
                .endVolumeMount()
                .build();
    }
}
