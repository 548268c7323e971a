// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.operator.pool.ascend.DevicePorts;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRuleBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeerBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPort;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPortBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Which ports of a pool's pods can be reached, and from where. Where everybody may come, the rule names no source at all: a
 * selector of all namespaces would shut out pods on the network of their nodes, which engines with accelerators often are.
 */
public final class PoolNetworkPolicy {
    /** A label that Kubernetes gives each namespace. */
    private static final String NAMESPACE_NAME = "kubernetes.io/metadata.name";

    private PoolNetworkPolicy() {}

    /** The policies the pool shall have; none where the spec wants none. */
    public static List<NetworkPolicy> of(PoolBlueprint pool) {
        List<NetworkPolicy> policies = new ArrayList<>();
        if (pool.spec().networkPolicy().enabled()) {
            policies.add(policy(pool, pool.names().masters(), PoolLabels.ROLE_MASTER, masters(pool)));
            // On the network of their nodes pods are out of reach of policies.
            if (isOnPodNetwork(pool)) {
                policies.add(policy(pool, pool.names().storage(), PoolLabels.ROLE_STORAGE, List.of(storage(pool))));
            }
            if (pool.engine().agents() != null && !pool.engine().hostNetwork()) {
                // Engines reach them through a socket file.
                policies.add(policy(
                        pool,
                        pool.names().agents(),
                        PoolLabels.ROLE_AGENT,
                        List.of(rule(pool, clients(pool), PoolNames.ADMIN))));
            }
        }
        return policies;
    }

    /** Whether storage nodes of some set are, as they would be of a pool that has none. */
    private static boolean isOnPodNetwork(PoolBlueprint pool) {
        return pool.spec().storage().isEmpty()
                ? !pool.engine().hostNetwork()
                : pool.spec().storage().stream()
                        .anyMatch(set -> !pool.engine(set).hostNetwork());
    }

    private static List<NetworkPolicyIngressRule> masters(PoolBlueprint pool) {
        NetworkPolicyIngressRule served = rule(pool, clients(pool), PoolNames.RPC, PoolNames.ADMIN);
        return served.getFrom().isEmpty()
                ? List.of(served)
                : List.of(
                        served,
                        rule(
                                pool,
                                List.of(namespaces(Map.of(NAMESPACE_NAME, pool.operatorNamespace()))),
                                PoolNames.ADMIN));
    }

    /** NPUs listen for each other on ports of their own. */
    private static NetworkPolicyIngressRule storage(PoolBlueprint pool) {
        return rule(pool, clients(pool), PoolNames.DATA, PoolNames.ADMIN)
                .edit()
                .addAllToPorts(pool.spec().storage().stream()
                        .map(pool::engine)
                        .filter(engine -> !engine.hostNetwork())
                        .map(TransferEngineSpec::accelerator)
                        .filter(accelerator -> accelerator != null && accelerator.opensDevices())
                        .map(DevicePorts::of)
                        .distinct()
                        .map(ports -> new NetworkPolicyPortBuilder()
                                .withPort(new IntOrString(ports.first()))
                                .withEndPort(ports.last())
                                .withProtocol("TCP")
                                .build())
                        .toList())
                .build();
    }

    /** Empty when everybody may come. */
    private static List<NetworkPolicyPeer> clients(PoolBlueprint pool) {
        Map<String, String> labels = pool.spec().networkPolicy().clientNamespaces();
        if (labels.isEmpty()) {
            return List.of();
        }
        NetworkPolicyPeer pods = new NetworkPolicyPeerBuilder()
                .withNewPodSelector()
                .addToMatchLabels(PoolLabels.POOL, pool.names().pool())
                .endPodSelector()
                .build();
        return List.of(pods, namespaces(labels));
    }

    private static NetworkPolicyPeer namespaces(Map<String, String> labels) {
        return new NetworkPolicyPeerBuilder()
                .withNewNamespaceSelector()
                .withMatchLabels(labels)
                .endNamespaceSelector()
                .build();
    }

    /** Each of them has admin, and with it that with TLS where the pool is secure. */
    private static NetworkPolicyIngressRule rule(PoolBlueprint pool, List<NetworkPolicyPeer> from, String... ports) {
        Stream<String> secured = pool.security().isOn() ? Stream.of(PoolNames.ADMIN_TLS) : Stream.empty();
        return new NetworkPolicyIngressRuleBuilder()
                .withFrom(from)
                .withPorts(Stream.concat(Stream.of(ports), secured)
                        .map(PoolNetworkPolicy::port)
                        .toList())
                .build();
    }

    /** By name, so that it stays right where ports are chosen for a pod. */
    private static NetworkPolicyPort port(String name) {
        return new NetworkPolicyPortBuilder()
                .withPort(new IntOrString(name))
                .withProtocol("TCP")
                .build();
    }

    private static NetworkPolicy policy(
            PoolBlueprint pool, String name, String role, List<NetworkPolicyIngressRule> ingress) {
        return new NetworkPolicyBuilder()
                .withMetadata(pool.metadata(name, PoolLabels.ofRole(pool.names().pool(), role)))
                .withNewSpec()
                .withNewPodSelector()
                .withMatchLabels(PoolLabels.selectRole(pool.names().pool(), role))
                .endPodSelector()
                .withPolicyTypes("Ingress")
                .withIngress(ingress)
                .endSpec()
                .build();
    }
}
