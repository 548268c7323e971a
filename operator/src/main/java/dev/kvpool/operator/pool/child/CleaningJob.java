// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.PoolBlueprint;
import dev.kvpool.operator.pool.PoolLabels;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.util.Map;

/** Removes a directory of a node, on that node. */
public final class CleaningJob {
    private static final int TRIES_MORE = 6;

    /** Then Kubernetes removes one that failed, and the operator begins anew. */
    private static final int KEPT_S = 600;

    private static final String MOUNT = "/directories";
    private static final String VOLUME = "directories";

    private CleaningJob() {}

    /**
     * Builds the Job.
     *
     * @param name its name
     * @param node the node of the cluster
     * @param path absolute path of the directory, at least two levels deep
     */
    public static Job of(PoolBlueprint pool, String name, String node, String path) {
        Map<String, String> labels = PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_CLEANING);
        int last = path.lastIndexOf('/');
        return new JobBuilder()
                .withMetadata(pool.metadata(name, labels))
                .withNewSpec()
                .withBackoffLimit(TRIES_MORE)
                .withTtlSecondsAfterFinished(KEPT_S)
                .withNewTemplate()
                .withNewMetadata()
                .withLabels(labels)
                .endMetadata()
                .withNewSpec()
                // Past the scheduler: the node may be cordoned, tainted or full.
                .withNodeName(node)
                .addNewToleration()
                .withOperator("Exists")
                .endToleration()
                .withRestartPolicy("Never")
                .withAutomountServiceAccountToken(false)
                .withEnableServiceLinks(false)
                .withImagePullSecrets(MasterStatefulSet.pullSecrets(pool))
                .withSecurityContext(PodSecurity.pod())
                .withContainers(container(pool, MOUNT + path.substring(last)))
                .addNewVolume()
                .withName(VOLUME)
                .withNewHostPath()
                .withPath(path.substring(0, last))
                .withType("DirectoryOrCreate")
                .endHostPath()
                .endVolume()
                .endSpec()
                .endTemplate()
                .endSpec()
                .build();
    }

    private static Container container(PoolBlueprint pool, String mounted) {
        return new ContainerBuilder()
                .withName("remove")
                .withImage(pool.storageImage())
                .withImagePullPolicy(PullPolicy.name(pool.spec().imagePullPolicy()))
                .withCommand("rm", "-rf", "--", mounted)
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
