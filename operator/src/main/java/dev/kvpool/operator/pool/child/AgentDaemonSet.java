// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.AgentsSpec;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.certificate.ProcessIdentity;
import dev.kvpool.operator.pool.child.part.ContainerResources;
import dev.kvpool.operator.pool.child.part.HostDirectory;
import dev.kvpool.operator.pool.child.part.HostNetwork;
import dev.kvpool.operator.pool.child.part.NodeSockets;
import dev.kvpool.operator.pool.child.part.PodSecurity;
import dev.kvpool.operator.pool.child.part.Probes;
import dev.kvpool.operator.pool.child.part.RdmaDevices;
import dev.kvpool.operator.pool.child.part.ScratchVolume;
import dev.kvpool.operator.pool.child.part.StoragePod;
import dev.kvpool.operator.pool.child.part.TemplatedPod;
import dev.kvpool.operator.pool.child.part.WishDigest;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.security.AccountRoles;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import java.util.ArrayList;
import java.util.List;

/**
 * The agents of a pool. They own nothing and may be replaced at any time, so Kubernetes does it, a few at a time, when this template changes:
 * their clients wait for the next one.
 */
public final class AgentDaemonSet {
    /** Memory of the process beside what it shares with clients. */
    private static final long PROCESS_BYTES = 512L << 20;

    private static final String SOCKET_DIR = "/var/run/kvpool";
    private static final String VOLUME = "socket";
    private static final int STARTUP_LIMIT_S = 120;
    private static final long TERMINATION_GRACE_S = 15;
    private static final int REVISIONS_KEPT = 5;

    private AgentDaemonSet() {}

    /** Whether an object of a pool is this one. */
    public static boolean is(HasMetadata child) {
        return child instanceof DaemonSet
                && PoolLabels.ROLE_AGENT.equals(child.getMetadata().getLabels().get(PoolLabels.ROLE));
    }

    public static DaemonSet of(PoolBlueprint pool, AgentsSpec agents) {
        String poolName = pool.names().pool();
        TemplatedPod template = new TemplatedPod(
                agents.podTemplate(),
                PoolLabels.ofRole(poolName, PoolLabels.ROLE_AGENT),
                PoolLabels.selectRole(poolName, PoolLabels.ROLE_AGENT),
                pool.requests().restart(PoolLabels.ROLE_AGENT),
                pool.security().members());
        return new DaemonSetBuilder()
                .withMetadata(pool.agentsMetadata())
                .withNewSpec()
                .withRevisionHistoryLimit(REVISIONS_KEPT)
                .withNewSelector()
                .withMatchLabels(PoolLabels.selectRole(poolName, PoolLabels.ROLE_AGENT))
                .endSelector()
                .withNewUpdateStrategy()
                .withType("RollingUpdate")
                .withNewRollingUpdate()
                .withMaxUnavailable(new IntOrString("10%"))
                .endRollingUpdate()
                .endUpdateStrategy()
                // One on each node is what a DaemonSet gives; there is nothing to spread.
                .withTemplate(template.template(template.over(pod(pool, agents)), image(pool), WishDigest.agents(pool)))
                .endSpec()
                .build();
    }

    /** As soon as it changes Kubernetes replaces agents, which come after all others: in an upgrade masters keep theirs until the end. */
    private static String image(PoolBlueprint pool) {
        return pool.masters().image();
    }

    private static PodSpecBuilder pod(PoolBlueprint pool, AgentsSpec agents) {
        var pod = new PodSpecBuilder()
                .withAutomountServiceAccountToken(false)
                .withEnableServiceLinks(false)
                .withImagePullSecrets(pool.pullSecrets())
                .withSecurityContext(PodSecurity.pod())
                .withTerminationGracePeriodSeconds(TERMINATION_GRACE_S)
                // Others of the group may look for the socket: engines join it by supplementalGroups.
                .withInitContainers(HostDirectory.owner(
                        pool,
                        image(pool),
                        "directory",
                        "0750",
                        PodSecurity.user(agents.podTemplate()),
                        List.of(socket())))
                .withContainers(container(pool, agents))
                .withVolumes(
                        HostDirectory.volume(VOLUME, pool.names().socketDirectory(agents.path())),
                        ScratchVolume.volume());
        pod.addAllToVolumes(NodeSockets.volumes(pool));
        HostNetwork.apply(pod, pool.engine());
        ProcessIdentity.ofMembers(pool).apply(pod, AccountRoles.ofAgents(pool.names(), pool.engine()));
        return pod;
    }

    private static Container container(PoolBlueprint pool, AgentsSpec agents) {
        long staging = ByteAmount.bytes(agents.stagingSize());
        ContainerResources resources = new ContainerResources()
                .request("cpu", new Quantity("100m"))
                .request("memory", new Quantity("256Mi"))
                .limit("memory", ByteAmount.exact(staging + PROCESS_BYTES))
                .replaceWith(agents.resources());
        RdmaDevices.addTo(resources, pool.engine());
        var container = new ContainerBuilder()
                .withName("agent")
                .withImage(image(pool))
                .withImagePullPolicy(pool.pullPolicy())
                .withArgs(arguments(pool, staging))
                .addNewPort()
                .withName(PoolNames.ADMIN)
                .withContainerPort(pool.agentPort())
                .withProtocol("TCP")
                .endPort()
                .withStartupProbe(Probes.startup(STARTUP_LIMIT_S))
                .withLivenessProbe(Probes.liveness())
                .withReadinessProbe(Probes.readiness())
                .withResources(resources.build())
                .withSecurityContext(PodSecurity.container(pool.engine().rdma() != null))
                .withVolumeMounts(socket(), ScratchVolume.mount());
        container.addAllToVolumeMounts(NodeSockets.mounts(pool));
        ProcessIdentity.ofMembers(pool).apply(container, pool.engine().hostNetwork());
        return container.build();
    }

    private static VolumeMount socket() {
        return new VolumeMountBuilder()
                .withName(VOLUME)
                .withMountPath(SOCKET_DIR)
                .build();
    }

    private static List<String> arguments(PoolBlueprint pool, long staging) {
        TransferEngineSpec engine = pool.engine();
        List<String> arguments = new ArrayList<>(List.of(
                "agent",
                "--masters=" + pool.masterList(),
                "--socket-dir=" + SOCKET_DIR,
                "--staging-size=" + staging,
                "--admin-port=" + pool.agentPort(),
                "--protocols=" + StoragePod.words(pool.engines().agentProtocols()),
                "--connect-timeout=" + ApiDuration.flag(engine.timeouts().connect()),
                "--transfer-timeout=" + ApiDuration.flag(engine.timeouts().transfer())));
        StoragePod.listenHost(engine).ifPresent(arguments::add);
        arguments.addAll(ProcessIdentity.ofMembers(pool).arguments(engine.hostNetwork(), "agent"));
        return arguments;
    }
}
