// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.DataLossPolicy;
import dev.kvpool.api.v1alpha1.IpFamily;
import dev.kvpool.api.v1alpha1.Protocol;
import dev.kvpool.api.v1alpha1.StorageSetSpec;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.operator.pool.ByteAmount;
import dev.kvpool.operator.pool.PoolBlueprint;
import dev.kvpool.operator.pool.PoolLabels;
import dev.kvpool.operator.pool.PoolNames;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** One set of storage nodes. */
public final class StorageStatefulSet {
    private static final String DATA_DIR = "/var/lib/kvpool";

    /** Filling and checking a large segment takes minutes. */
    private static final int STARTUP_LIMIT_S = 600;

    private static final long TERMINATION_GRACE_S = 30;
    private static final int REVISIONS_KEPT = 5;

    private final PoolBlueprint pool;
    private final StorageSetSpec set;
    private final Optional<AcceleratorParts> accelerator;

    private StorageStatefulSet(PoolBlueprint pool, StorageSetSpec set) {
        this.pool = pool;
        this.set = set;
        AcceleratorSpec spec = pool.engine().accelerator();
        this.accelerator = Optional.ofNullable(spec).map(AcceleratorParts::new);
    }

    /**
     * Builds the StatefulSet of one set.
     *
     * @param replicas how many nodes the set shall have now, which may be more than the spec asks for
     */
    public static StatefulSet of(PoolBlueprint pool, StorageSetSpec set, int replicas) {
        return new StorageStatefulSet(pool, set).build(replicas);
    }

    private StatefulSet build(int replicas) {
        String poolName = pool.names().pool();
        Map<String, String> labels = PoolLabels.ofSet(poolName, set.name());
        Map<String, String> selector = PoolLabels.selectRole(poolName, PoolLabels.ROLE_STORAGE);
        selector.put(PoolLabels.SET, set.name());
        return new StatefulSetBuilder()
                .withMetadata(pool.metadata(pool.names().storageSet(set.name()), labels))
                .withNewSpec()
                .withServiceName(pool.names().storageService())
                .withReplicas(replicas)
                .withPodManagementPolicy("Parallel")
                .withRevisionHistoryLimit(REVISIONS_KEPT)
                .withNewSelector()
                .withMatchLabels(selector)
                .endSelector()
                .withNewUpdateStrategy()
                .withType(updateStrategy(pool.spec().onDataLoss()))
                .endUpdateStrategy()
                .withNewTemplate()
                .withNewMetadata()
                .withLabels(labels)
                .endMetadata()
                .withSpec(pod())
                .endTemplate()
                .endSpec()
                .build();
    }

    /** A replaced pod has lost its memory, so Kubernetes may replace pods by itself only where the spec allows that. */
    private static String updateStrategy(DataLossPolicy policy) {
        return switch (policy) {
            case WAIT -> "OnDelete";
            case REPLACE -> "RollingUpdate";
        };
    }

    private PodSpec pod() {
        var pod = new PodSpecBuilder()
                .withAutomountServiceAccountToken(false)
                .withEnableServiceLinks(false)
                .withImagePullSecrets(MasterStatefulSet.pullSecrets(pool))
                .withSecurityContext(PodSecurity.pod())
                .withTerminationGracePeriodSeconds(TERMINATION_GRACE_S)
                .withContainers(container())
                .addToVolumes(SegmentMemory.volume(set, pool.engine().memory().hugePages()), ScratchVolume.volume());
        accelerator.ifPresent(parts -> {
            pod.addAllToVolumes(parts.volumes());
            parts.addTo(pod);
        });
        return Placement.apply(pod, set.scheduling(), pool.names().pool(), PoolLabels.ROLE_STORAGE)
                .build();
    }

    private Container container() {
        ContainerResources resources = SegmentMemory.resources(
                        set, pool.engine().memory().hugePages())
                .request("cpu", new Quantity("100m"))
                .replaceWith(set.resources());
        accelerator.ifPresent(parts -> parts.addTo(resources));
        var container = new ContainerBuilder()
                .withName("node")
                .withImage(pool.image())
                .withImagePullPolicy(PullPolicy.name(pool.spec().imagePullPolicy()))
                .withArgs(arguments())
                .withEnv(environment())
                .addNewPort()
                .withName("data")
                .withContainerPort(pool.engine().ports().base())
                .withProtocol("TCP")
                .endPort()
                .addNewPort()
                .withName("admin")
                .withContainerPort(PoolNames.NODE_ADMIN_PORT)
                .withProtocol("TCP")
                .endPort()
                .withStartupProbe(Probes.startup(STARTUP_LIMIT_S))
                .withLivenessProbe(Probes.liveness())
                .withReadinessProbe(Probes.readiness())
                .withResources(resources.build())
                .withSecurityContext(PodSecurity.container())
                .addToVolumeMounts(
                        new VolumeMountBuilder()
                                .withName(SegmentMemory.VOLUME)
                                .withMountPath(DATA_DIR)
                                .build(),
                        ScratchVolume.mount());
        accelerator.ifPresent(parts -> {
            container.addAllToVolumeMounts(parts.mounts());
            // Registering memory with the device pins it.
            container
                    .editSecurityContext()
                    .editCapabilities()
                    .addToAdd("IPC_LOCK")
                    .endCapabilities()
                    .endSecurityContext();
        });
        return container.build();
    }

    private List<EnvVar> environment() {
        List<EnvVar> environment = new ArrayList<>(PodIdentity.environment());
        accelerator.ifPresent(parts -> environment.addAll(parts.environment()));
        return environment;
    }

    private List<String> arguments() {
        TransferEngineSpec engine = pool.engine();
        List<String> arguments = new ArrayList<>(List.of(
                "node",
                "--pool-id=" + pool.poolId(),
                "--node-id=$(POD_NAME)",
                "--masters="
                        + String.join(
                                ",",
                                pool.names()
                                        .masterAddresses(pool.spec().masters().replicas())),
                "--port=" + engine.ports().base(),
                "--admin-port=" + PoolNames.NODE_ADMIN_PORT,
                "--advertise-host=$(POD_IP)",
                "--data-dir=" + DATA_DIR,
                "--segment-size=" + ByteAmount.bytes(set.capacity()),
                "--protocols="
                        + engine.protocols().stream()
                                .map(StorageStatefulSet::name)
                                .collect(Collectors.joining(",")),
                "--connect-timeout=" + engine.timeouts().connect(),
                "--transfer-timeout=" + engine.timeouts().transfer()));
        if (engine.ipFamilies().equals(List.of(IpFamily.IPV4))) {
            arguments.add("--host=0.0.0.0");
        }
        return arguments;
    }

    private static String name(Protocol protocol) {
        return switch (protocol) {
            case SHM -> "shm";
            case TCP -> "tcp";
        };
    }
}
