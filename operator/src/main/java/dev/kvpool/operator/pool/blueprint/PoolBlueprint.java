// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.blueprint;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.Protocol;
import dev.kvpool.api.v1alpha1.pod.MastersSpec;
import dev.kvpool.api.v1alpha1.pod.SecretName;
import dev.kvpool.api.v1alpha1.security.Payloads;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.ascend.DeviceNeeds;
import dev.kvpool.operator.pool.ascend.DevicePorts;
import dev.kvpool.operator.pool.naming.NodePorts;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.security.PoolSecurity;
import dev.kvpool.operator.pool.sizing.PoolEngines;
import dev.kvpool.operator.pool.sizing.Sizing;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.List;
import java.util.Map;

/**
 * Everything the builders of a pool's children need.
 *
 * @param identity which pool it is
 * @param spec what the user wants
 * @param requests which pods shall be made again
 * @param transport how bytes get to the storage nodes
 * @param masters the masters there shall be now
 * @param storage the storage nodes there shall be now
 * @param sizing memory of the pods
 * @param security how secure the next pods are
 * @param platform where the operator runs
 */
public record PoolBlueprint(
        PoolIdentity identity,
        KvCachePoolSpec spec,
        Requests requests,
        Transport transport,
        Masters masters,
        StorageNodes storage,
        Sizing sizing,
        PoolSecurity security,
        Platform platform) {

    /**
     * How bytes get to storage nodes.
     *
     * @param engines settings of the transfer engines
     * @param ports ports of the storage nodes, by name of their set, and of the agents, if any, by {@link PoolNames#AGENT}
     */
    public record Transport(PoolEngines engines, Map<String, NodePorts> ports) {}

    /**
     * The masters.
     *
     * @param replicas how many, which may be more than the spec asks for
     * @param image the image of those that are recreated
     */
    public record Masters(int replicas, String image) {}

    /**
     * The storage nodes.
     *
     * @param expected those that the masters shall expect
     * @param image the image of those that are recreated
     */
    public record StorageNodes(List<ExpectedNode> expected, String image) {}

    /**
     * Where an operator runs.
     *
     * @param namespace its namespace
     * @param givesUser whether the cluster gives pods their user
     */
    public record Platform(String namespace, boolean givesUser) {}

    public PoolNames names() {
        return identity.names();
    }

    public String poolId() {
        return identity.poolId();
    }

    public PoolEngines engines() {
        return transport.engines();
    }

    /** Settings of the pool's own transfer engine. */
    public TransferEngineSpec engine() {
        return engines().ofPool();
    }

    /** Those of a set's. */
    public TransferEngineSpec engine(StorageSetSpec set) {
        return engines().of(set);
    }

    /** Ports of the storage nodes of a set of the spec. */
    public NodePorts ports(StorageSetSpec set) {
        return transport.ports().get(set.name());
    }

    /**
     * HOST:PORT of each master that the pool may ever have, as command lines and clients take them: neither storage nodes nor
     * engines can be told of a further one while they run. Clients that dial them ask rarely for names without an address.
     */
    public String masterList() {
        return String.join(",", names().masterAddresses(MastersSpec.REPLICAS_MAX));
    }

    /** Whether storage nodes leave TLS behind the handshake; none does while it is off on the way to another mode. */
    public boolean payloadsAreAuthenticated() {
        return security.members().isOn() && spec.security().payloads() == Payloads.AUTHENTICATED;
    }

    /** Whether storage nodes of a set serve a protocol that has no TLS although it is required. */
    public boolean usesTrustedFabric(StorageSetSpec set) {
        return security.members() == SecurityMode.REQUIRED
                && engine(set).trustedFabric()
                && engine(set).fabric().isPresent();
    }

    private NodePorts agentPorts() {
        return transport.ports().get(PoolNames.AGENT);
    }

    /** Port of the agents' admin endpoint. */
    public int agentPort() {
        return agentPorts().admin();
    }

    /** Labels of the pods of a storage set: its own, and what metrics of the pods cannot say by themselves. */
    public Map<String, String> podLabels(StorageSetSpec set) {
        Map<String, String> labels = PoolLabels.ofSet(names().pool(), set.name());
        if (engine(set).protocols().contains(Protocol.UCX)) {
            labels.put(PoolLabels.UCX, PoolLabels.WANTED);
        }
        if (engine(set).protocols().contains(Protocol.ASCEND)) {
            labels.put(PoolLabels.ASCEND, PoolLabels.WANTED);
        }
        return labels;
    }

    /** Metadata of the workload of a storage set, which keeps what the set shall keep. */
    public ObjectMeta metadata(StorageSetSpec set) {
        ObjectMeta metadata = keeping(
                engine(set),
                ports(set),
                metadata(names().storageSet(set.name()), PoolLabels.ofSet(names().pool(), set.name())));
        return engine(set).hostNetwork() && DeviceNeeds.areOf(engine(set))
                ? metadata.toBuilder()
                        .addToAnnotations(
                                PoolLabels.FIRST_DEVICE_PORT,
                                Integer.toString(DevicePorts.of(engine(set).accelerator())
                                        .first()))
                        .build()
                : metadata;
    }

    /** The same for that of the agents. */
    public ObjectMeta agentsMetadata() {
        return keeping(
                engine(),
                agentPorts(),
                metadata(names().agents(), PoolLabels.ofRole(names().pool(), PoolLabels.ROLE_AGENT)));
    }

    private static ObjectMeta keeping(TransferEngineSpec engine, NodePorts kept, ObjectMeta metadata) {
        return engine.hostNetwork()
                ? metadata.toBuilder()
                        .addToAnnotations(PoolLabels.FIRST_PORT, Integer.toString(kept.data()))
                        .build()
                : metadata;
    }

    /** Metadata of a child. */
    public ObjectMeta metadata(String name, Map<String, String> labels) {
        return identity.metadata(name, labels);
    }

    /** When nodes pull images, in the words of a pod. */
    public String pullPolicy() {
        return switch (spec().imagePullPolicy()) {
            case ALWAYS -> "Always";
            case IF_NOT_PRESENT -> "IfNotPresent";
            case NEVER -> "Never";
        };
    }

    /** Secrets with credentials for the registry, for every pod of the pool. */
    public List<LocalObjectReference> pullSecrets() {
        return spec().imagePullSecrets().stream()
                .map(SecretName::name)
                .map(LocalObjectReference::new)
                .toList();
    }
}
