// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.IpFamily;
import dev.kvpool.api.v1alpha1.engine.Protocol;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.VolumeType;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.pool.ascend.DeviceNeeds;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.certificate.ProcessIdentity;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.security.AccountRoles;
import dev.kvpool.operator.pool.sizing.Sizing;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The pod of a storage node; where it runs is decided by what makes it. */
public final class StoragePod {
    private static final String DATA_DIR = "/var/lib/kvpool";

    /** Filling and checking a large segment takes minutes. */
    private static final int STARTUP_LIMIT_S = 600;

    private static final long TERMINATION_GRACE_S = 30;

    /**
     * What a volume holds is believed on another machine only if all of it was written before the process ended, and a large segment on a
     * slow disk takes minutes for that.
     */
    private static final long TERMINATION_GRACE_OF_CLAIMS_S = 300;

    private final PoolBlueprint pool;
    private final StorageSetSpec set;
    private final Optional<AcceleratorParts> accelerator;

    public StoragePod(PoolBlueprint pool, StorageSetSpec set) {
        this.pool = pool;
        this.set = set;
        this.accelerator = AcceleratorParts.of(engine());
    }

    /**
     * The pod of one storage node.
     *
     * @param nodeId id of the storage node, in terms of the pod's environment
     * @param more environment the id refers to
     */
    public PodSpecBuilder build(String nodeId, EnvVar... more) {
        var pod = new PodSpecBuilder()
                .withAutomountServiceAccountToken(false)
                .withEnableServiceLinks(false)
                .withImagePullSecrets(pool.pullSecrets())
                .withSecurityContext(PodSecurity.pod(pool.platform().givesUser() && !usesDirectories()))
                .withTerminationGracePeriodSeconds(
                        set.volume().type() == VolumeType.PERSISTENT_VOLUME_CLAIM
                                ? TERMINATION_GRACE_OF_CLAIMS_S
                                : TERMINATION_GRACE_S)
                .withContainers(container(nodeId, List.of(more)))
                .addToVolumes(ScratchVolume.volume());
        switch (set.volume().type()) {
            case EMPTY_DIR ->
                pod.addToVolumes(0, SegmentMemory.volume(set, engine().memory().hugePages()));
            case HOST_PATH ->
                pod.addToVolumes(
                                0,
                                HostDirectory.volume(SegmentMemory.VOLUME, HostDirectory.segment(set, pool.poolId())))
                        .addToInitContainers(HostDirectory.owner(
                                pool,
                                pool.storage().image(),
                                "directory",
                                "0700",
                                PodSecurity.user(set.podTemplate()),
                                kept()));
            case PERSISTENT_VOLUME_CLAIM -> {
                // Its StatefulSet brings the volume.
            }
        }
        SsdVolume.volume(pool, set).ifPresent(pod::addToVolumes);
        SsdKey.volume(set).ifPresent(pod::addToVolumes);
        NodeSockets.volume(pool, engine()).ifPresent(pod::addToVolumes);
        NodeSockets.owner(pool, engine(), PodSecurity.user(set.podTemplate())).ifPresent(pod::addToInitContainers);
        HostNetwork.apply(pod, engine());
        ProcessIdentity.ofMembers(pool).apply(pod, AccountRoles.ofSet(pool.names(), set));
        accelerator.ifPresent(parts -> pod.addAllToVolumes(parts.volumes())
                .addToInitContainers(parts.copying(pool))
                .editSecurityContext()
                .addToSupplementalGroups(parts.group())
                .endSecurityContext());
        accelerator
                .filter(parts -> DeviceNeeds.areOf(engine()))
                .ifPresent(parts -> pod.addToInitContainers(parts.checking(pool, words(engine().protocolsOfNodes()))));
        return pod;
    }

    private TransferEngineSpec engine() {
        return pool.engine(set);
    }

    /** The directories are given to a user by root, so no platform chooses it. */
    private boolean usesDirectories() {
        return set.volume().type() == VolumeType.HOST_PATH
                || NodeSockets.directory(pool, engine()).isPresent();
    }

    private Container container(String nodeId, List<EnvVar> more) {
        ContainerResources resources = SegmentMemory.resources(pool, set).request("cpu", new Quantity("100m"));
        SsdVolume.onDiskOfKubelet(set).ifPresent(bytes -> resources.request("ephemeral-storage", bytes));
        resources.replaceWith(set.resources());
        accelerator.ifPresent(parts -> parts.addTo(resources));
        RdmaDevices.addTo(resources, engine());
        var container = new ContainerBuilder()
                .withName("node")
                .withImage(pool.storage().image())
                .withImagePullPolicy(pool.pullPolicy())
                .withArgs(arguments(nodeId))
                .withEnv(environment(more))
                .addNewPort()
                .withName(PoolNames.DATA)
                .withContainerPort(pool.ports(set).data())
                .withProtocol("TCP")
                .endPort()
                .addNewPort()
                .withName(PoolNames.ADMIN)
                .withContainerPort(pool.ports(set).admin())
                .withProtocol("TCP")
                .endPort()
                .withStartupProbe(Probes.startup(STARTUP_LIMIT_S))
                .withLivenessProbe(Probes.liveness())
                .withReadinessProbe(Probes.readiness())
                .withResources(resources.build())
                .withSecurityContext(PodSecurity.container(accelerator.isPresent() || engine().rdma() != null))
                .addToVolumeMounts(segment(), ScratchVolume.mount())
                .addAllToVolumeMounts(SsdVolume.mounts(set))
                .addAllToVolumeDevices(SsdVolume.devices(set));
        SsdKey.mount(set).ifPresent(container::addToVolumeMounts);
        NodeSockets.mount(pool, engine()).ifPresent(container::addToVolumeMounts);
        accelerator.ifPresent(parts -> container.addAllToVolumeMounts(parts.mounts()));
        ProcessIdentity.ofMembers(pool).apply(container, engine().hostNetwork());
        return container.build();
    }

    private static VolumeMount segment() {
        return new VolumeMountBuilder()
                .withName(SegmentMemory.VOLUME)
                .withMountPath(DATA_DIR)
                .build();
    }

    /** What the node finds again. */
    private List<VolumeMount> kept() {
        List<VolumeMount> kept = new ArrayList<>(List.of(segment()));
        kept.addAll(SsdVolume.mounts(set));
        return kept;
    }

    private List<EnvVar> environment(List<EnvVar> more) {
        List<EnvVar> environment = new ArrayList<>(PodIdentity.environment());
        environment.addAll(more);
        accelerator.ifPresent(parts -> environment.addAll(parts.environment()));
        return environment;
    }

    private List<String> arguments(String nodeId) {
        TransferEngineSpec engine = engine();
        List<String> arguments = new ArrayList<>(List.of(
                "node",
                "--pool-id=" + pool.poolId(),
                "--node-id=" + nodeId,
                "--masters=" + pool.masterList(),
                "--port=" + pool.ports(set).data(),
                "--admin-port=" + pool.ports(set).admin(),
                "--advertise-host=$(POD_IP)",
                "--data-dir=" + DATA_DIR,
                "--segment-size=" + ByteAmount.bytes(set.capacity()),
                "--protocols=" + words(engine.protocolsOfNodes()),
                "--connect-timeout=" + ApiDuration.flag(engine.timeouts().connect()),
                "--transfer-timeout=" + ApiDuration.flag(engine.timeouts().transfer())));
        arguments.addAll(SsdVolume.arguments(set));
        NodeSockets.directory(pool, engine()).ifPresent(directory -> {
            arguments.add("--socket-dir=" + directory);
            arguments.add("--staging-size=" + Sizing.STAGING_BYTES);
        });
        listenHost(pool.engine()).ifPresent(arguments::add);
        arguments.addAll(ProcessIdentity.ofMembers(pool).arguments(engine().hostNetwork(), nodeId));
        if (pool.payloadsAreAuthenticated()) {
            arguments.add("--payloads=authenticated");
        }
        if (pool.usesTrustedFabric(set)) {
            arguments.add("--trusted-fabric=true");
        }
        return arguments;
    }

    /** Where the cluster may have no IPv6 at all. */
    public static Optional<String> listenHost(TransferEngineSpec engine) {
        return engine.ipFamilies().equals(List.of(IpFamily.IPV4)) ? Optional.of("--host=0.0.0.0") : Optional.empty();
    }

    /** Protocols as the command line and the clients' environment have them. */
    public static String words(List<Protocol> protocols) {
        return protocols.stream().map(Protocol::word).collect(Collectors.joining(","));
    }
}
