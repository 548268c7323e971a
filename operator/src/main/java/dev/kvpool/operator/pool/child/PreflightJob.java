// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.PoolBlueprint;
import dev.kvpool.operator.pool.PoolLabels;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Asks, with the image the pool is to go over to, whether it can. The answer is the pod's termination message. */
public final class PreflightJob {
    private static final int TRIES_MORE = 3;
    private static final int KEPT_S = 3600;
    private static final String RESULT = "/dev/termination-log";

    private PreflightJob() {}

    /**
     * Builds the Job.
     *
     * @param image the image it asks for
     */
    public static Job of(PoolBlueprint pool, String image) {
        Map<String, String> labels = PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_PREFLIGHT);
        return new JobBuilder()
                .withMetadata(pool.metadata(pool.names().preflight(), labels))
                .withNewSpec()
                .withBackoffLimit(TRIES_MORE)
                .withTtlSecondsAfterFinished(KEPT_S)
                .withNewTemplate()
                .withNewMetadata()
                .withLabels(labels)
                .endMetadata()
                .withNewSpec()
                .withRestartPolicy("Never")
                .withAutomountServiceAccountToken(false)
                .withEnableServiceLinks(false)
                .withImagePullSecrets(MasterStatefulSet.pullSecrets(pool))
                .withSecurityContext(PodSecurity.pod())
                .withContainers(container(pool, image))
                .withVolumes(ScratchVolume.volume())
                .endSpec()
                .endTemplate()
                .endSpec()
                .build();
    }

    private static Container container(PoolBlueprint pool, String image) {
        return new ContainerBuilder()
                .withName("preflight")
                .withImage(image)
                .withImagePullPolicy(PullPolicy.name(pool.spec().imagePullPolicy()))
                .withArgs(arguments(pool))
                .withTerminationMessagePath(RESULT)
                .withTerminationMessagePolicy("FallbackToLogsOnError")
                .withResources(new ContainerResources()
                        .request("cpu", new Quantity("50m"))
                        .request("memory", new Quantity("128Mi"))
                        .limit("memory", new Quantity("512Mi"))
                        .build())
                .withSecurityContext(PodSecurity.container())
                .withVolumeMounts(ScratchVolume.mount())
                .build();
    }

    private static List<String> arguments(PoolBlueprint pool) {
        List<String> arguments = new ArrayList<>(List.of(
                "preflight",
                "--admins="
                        + String.join(
                                ",",
                                pool.names()
                                        .masterAdminAddresses(
                                                pool.spec().masters().replicas())),
                "--result-file=" + RESULT));
        if (pool.spec().upgrade().ignoreClients()) {
            arguments.add("--ignore-clients");
        }
        return arguments;
    }
}
