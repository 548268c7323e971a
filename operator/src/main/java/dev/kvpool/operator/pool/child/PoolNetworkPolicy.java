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
 * Which ports of a pool's pods can be reached, and from where: engines reach those for objects, and of masters the one where they enrol; admin ports are
 * for the operator, the pool's own pods and monitoring. Where all may come, the rule names no source at all: a selector of all namespaces would shut out
 * pods on the network of their nodes, which engines with accelerators often are.
 */
public final class PoolNetworkPolicy {
    /** A label that Kubernetes gives each namespace. */
    private static final String NAMESPACE_NAME = "kubernetes.io/metadata.name";

    private PoolNetworkPolicy() {}

    /** The policies the pool shall have; none where the spec wants none. */
    public static List<NetworkPolicy> of(PoolBlueprint pool) {
        List<NetworkPolicy> policies = new ArrayList<>();
        if (pool.spec().networkPolicy().enabled()) {
            policies.add(policy(
                    pool,
                    pool.names().masters(),
                    PoolLabels.ROLE_MASTER,
                    rules(pool, Stream.of(port(PoolNames.RPC)), secured(pool))));
            // On the network of their nodes pods are out of reach of policies.
            if (isOnPodNetwork(pool)) {
                policies.add(policy(
                        pool,
                        pool.names().storage(),
                        PoolLabels.ROLE_STORAGE,
                        rules(pool, Stream.concat(Stream.of(port(PoolNames.DATA)), devices(pool)), Stream.empty())));
            }
            if (pool.engine().agents() != null && !pool.engine().hostNetwork()) {
                // Engines reach them through a socket file.
                policies.add(policy(
                        pool, pool.names().agents(), PoolLabels.ROLE_AGENT, List.of(rule(admins(pool), admin(pool)))));
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

    /**
     * @param served what clients reach
     * @param enrolment of the admin ports those that clients reach too
     */
    private static List<NetworkPolicyIngressRule> rules(
            PoolBlueprint pool, Stream<NetworkPolicyPort> served, Stream<NetworkPolicyPort> enrolment) {
        List<NetworkPolicyPeer> clients = clients(pool);
        List<NetworkPolicyPeer> admins = admins(pool);
        return clients.equals(admins)
                ? List.of(rule(clients, Stream.concat(served, admin(pool))))
                : List.of(rule(clients, Stream.concat(served, enrolment)), rule(admins, admin(pool)));
    }

    /** NPUs listen for each other on ports of their own. */
    private static Stream<NetworkPolicyPort> devices(PoolBlueprint pool) {
        return pool.spec().storage().stream()
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
                        .build());
    }

    private static Stream<NetworkPolicyPort> admin(PoolBlueprint pool) {
        return Stream.concat(Stream.of(port(PoolNames.ADMIN)), secured(pool));
    }

    private static Stream<NetworkPolicyPort> secured(PoolBlueprint pool) {
        return pool.security().isOn() ? Stream.of(port(PoolNames.ADMIN_TLS)) : Stream.empty();
    }

    /** Empty when all may come. */
    private static List<NetworkPolicyPeer> clients(PoolBlueprint pool) {
        Map<String, String> labels = pool.spec().networkPolicy().clientNamespaces();
        return labels.isEmpty() ? List.of() : List.of(ownPods(pool), namespaces(labels));
    }

    /** Empty when all may come. Who is named for one of the two kinds of ports only does not open the other to all. */
    private static List<NetworkPolicyPeer> admins(PoolBlueprint pool) {
        Map<String, String> labels = pool.spec().networkPolicy().adminNamespaces();
        if (labels.isEmpty() && pool.spec().networkPolicy().clientNamespaces().isEmpty()) {
            return List.of();
        }
        Stream<NetworkPolicyPeer> named = labels.isEmpty() ? Stream.empty() : Stream.of(namespaces(labels));
        return Stream.concat(
                        Stream.of(
                                ownPods(pool),
                                namespaces(
                                        Map.of(NAMESPACE_NAME, pool.platform().namespace()))),
                        named)
                .toList();
    }

    private static NetworkPolicyPeer ownPods(PoolBlueprint pool) {
        return new NetworkPolicyPeerBuilder()
                .withNewPodSelector()
                .addToMatchLabels(PoolLabels.POOL, pool.names().pool())
                .endPodSelector()
                .build();
    }

    private static NetworkPolicyPeer namespaces(Map<String, String> labels) {
        return new NetworkPolicyPeerBuilder()
                .withNewNamespaceSelector()
                .withMatchLabels(labels)
                .endNamespaceSelector()
                .build();
    }

    private static NetworkPolicyIngressRule rule(List<NetworkPolicyPeer> from, Stream<NetworkPolicyPort> ports) {
        return new NetworkPolicyIngressRuleBuilder()
                .withFrom(from)
                .withPorts(ports.toList())
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
