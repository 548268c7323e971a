// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.certificate.ProcessIdentity;
import dev.kvpool.operator.pool.child.part.ContainerResources;
import dev.kvpool.operator.pool.child.part.PodIdentity;
import dev.kvpool.operator.pool.child.part.PodSecurity;
import dev.kvpool.operator.pool.child.part.Probes;
import dev.kvpool.operator.pool.child.part.ScratchVolume;
import dev.kvpool.operator.pool.child.part.TemplatedPod;
import dev.kvpool.operator.pool.child.part.WishDigest;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The masters. Which of them is restarted, and when, the operator decides: it knows who leads and who has caught up. */
public final class MasterStatefulSet {
    private static final String CONFIG_DIR = "/etc/kvpool/pool";
    private static final String NAME = "$(POD_NAME)";
    private static final int STARTUP_LIMIT_S = 120;
    private static final long TERMINATION_GRACE_S = 15;
    private static final int REVISIONS_KEPT = 5;

    private MasterStatefulSet() {}

    public static StatefulSet of(PoolBlueprint pool) {
        String name = pool.names().masters();
        Map<String, String> labels = PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_MASTER);
        TemplatedPod template = new TemplatedPod(
                pool.spec().masters().podTemplate(),
                labels,
                PoolLabels.selectRole(pool.names().pool(), PoolLabels.ROLE_MASTER),
                pool.requests().restart(PoolLabels.ROLE_MASTER),
                pool.security().masters());
        return new StatefulSetBuilder()
                .withMetadata(pool.metadata(name, labels))
                .withNewSpec()
                .withServiceName(name)
                .withReplicas(pool.masters().replicas())
                .withPodManagementPolicy("Parallel")
                .withRevisionHistoryLimit(REVISIONS_KEPT)
                .withNewSelector()
                .withMatchLabels(PoolLabels.selectRole(pool.names().pool(), PoolLabels.ROLE_MASTER))
                .endSelector()
                .withNewUpdateStrategy()
                .withType("OnDelete")
                .endUpdateStrategy()
                .withTemplate(template.template(
                        template.spread(pod(pool)), pool.masters().image(), WishDigest.masters(pool)))
                .editTemplate()
                .editMetadata()
                .addToAnnotations(ProcessIdentity.ofMasters(pool).notes())
                .endMetadata()
                .endTemplate()
                .endSpec()
                .build();
    }

    private static PodSpecBuilder pod(PoolBlueprint pool) {
        PodSpecBuilder pod = new PodSpecBuilder()
                .withServiceAccountName(pool.names().masters())
                .withAutomountServiceAccountToken(true)
                .withEnableServiceLinks(false)
                .withImagePullSecrets(pool.pullSecrets())
                .withSecurityContext(PodSecurity.pod(pool.platform().givesUser()))
                .withTerminationGracePeriodSeconds(TERMINATION_GRACE_S)
                .withContainers(container(pool))
                .withVolumes(
                        new VolumeBuilder()
                                .withName("pool")
                                .withNewConfigMap()
                                .withName(pool.names().poolConfigMap())
                                .endConfigMap()
                                .build(),
                        ScratchVolume.volume());
        ProcessIdentity.ofMasters(pool).apply(pod, pool.names().masters());
        return pod;
    }

    private static Container container(PoolBlueprint pool) {
        ContainerBuilder container = new ContainerBuilder()
                .withName("master")
                .withImage(pool.masters().image())
                .withImagePullPolicy(pool.pullPolicy())
                .withArgs(arguments(pool))
                .withEnv(PodIdentity.environment())
                .addAllToEnv(PoolConfigMap.environment(pool))
                .addNewPort()
                .withName(PoolNames.RPC)
                .withContainerPort(PoolNames.MASTER_PORT)
                .withProtocol("TCP")
                .endPort()
                .addNewPort()
                .withName(PoolNames.ADMIN)
                .withContainerPort(PoolNames.MASTER_ADMIN_PORT)
                .withProtocol("TCP")
                .endPort()
                .withStartupProbe(Probes.startup(STARTUP_LIMIT_S))
                .withLivenessProbe(Probes.liveness())
                .withReadinessProbe(Probes.readiness())
                .withResources(new ContainerResources()
                        .request("cpu", new Quantity("100m"))
                        .request("memory", pool.sizing().masterRequest())
                        .limit("memory", pool.sizing().masterLimit())
                        .replaceWith(pool.spec().masters().resources())
                        .build())
                .withSecurityContext(PodSecurity.container())
                .withVolumeMounts(
                        new VolumeMountBuilder()
                                .withName("pool")
                                .withMountPath(CONFIG_DIR)
                                .withReadOnly(true)
                                .build(),
                        ScratchVolume.mount());
        ProcessIdentity.ofMasters(pool).apply(container, false);
        return container.build();
    }

    private static List<String> arguments(PoolBlueprint pool) {
        List<String> arguments = new ArrayList<>(List.of(
                "master",
                "--pool-id=" + pool.poolId(),
                "--name=" + NAME,
                "--port=" + PoolNames.MASTER_PORT,
                "--admin-port=" + PoolNames.MASTER_ADMIN_PORT,
                "--lease=k8s://" + pool.names().namespace() + "/" + pool.names().lease(),
                "--expected-nodes-file=" + CONFIG_DIR + "/" + PoolConfigMap.EXPECTED_NODES));
        arguments.addAll(ProcessIdentity.ofMasters(pool)
                .arguments(false, NAME, "--enrolment=" + CONFIG_DIR + "/" + PoolConfigMap.ENROLMENT));
        return arguments;
    }
}
