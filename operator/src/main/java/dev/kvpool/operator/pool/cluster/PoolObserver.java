// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.master.MasterReports;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.PortClaim;
import dev.kvpool.operator.pool.report.LackOfMemory;
import dev.kvpool.operator.pool.storage.HostDirectories;
import dev.kvpool.operator.pool.validate.NamespaceCheck;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Looks at a pool: at its objects in the informers' caches, at its data plane through the masters. Writes nothing. */
public final class PoolObserver {
    private final MasterReports masters;
    private final InstantSource clock;
    private final ApiContact contact;
    private final boolean deviceHealth;
    private final NodeNpus npus = new NodeNpus();
    private final PodRefusals refusals = new PodRefusals();

    /**
     * Makes one.
     *
     * @param deviceHealth whether it asks which NPUs are not well
     */
    public PoolObserver(MasterReports masters, InstantSource clock, boolean deviceHealth) {
        this.masters = masters;
        this.clock = clock;
        this.deviceHealth = deviceHealth;
        this.contact = new ApiContact(clock);
    }

    public PoolObservation observe(KvCachePool pool, Context<KvCachePool> context) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        Instant watchedSince = contact.since(pool, context.getClient(), now);
        List<HasMetadata> children = new ArrayList<>();
        for (Class<? extends HasMetadata> kind : PoolEventSources.CHILD_KINDS) {
            PoolEventSources.ofPool(kind, pool, context).stream()
                    .sorted(Comparator.comparing(child -> child.getMetadata().getName()))
                    .forEach(children::add);
        }
        List<ObservedPod> pods = PoolEventSources.ofPool(Pod.class, pool, context).stream()
                .map(ObservedPod::of)
                .sorted(Comparator.comparing(ObservedPod::name))
                .toList();
        List<TransferEngine> engines = engines(pool, context);
        PoolObservation unasked = new PoolObservation(
                pool,
                engines,
                children,
                pods,
                refusals.of(children, pods, context.getClient(), now),
                new PoolObservation.Surroundings(
                        withNpus(nodes(pool, children, pods, context), pods, context.getClient(), now),
                        onHostNetwork(engines) ? portClaims(context) : List.of(),
                        podSecurity(pool, engines, context.getClient())),
                PoolObservation.Masters.unasked(Leadership.among(children, pool)),
                watchedSince,
                now);
        return unasked.answered(ask(unasked));
    }

    /** Asked of nodes where pods of this pool looked for NPUs of theirs. */
    private List<ObservedNode> withNpus(
            List<ObservedNode> nodes, List<ObservedPod> pods, KubernetesClient client, Instant now) {
        if (!deviceHealth) {
            return nodes;
        }
        Set<String> concerned = pods.stream()
                .filter(pod -> pod.devices().isPresent())
                .map(ObservedPod::node)
                .collect(Collectors.toSet());
        return nodes.stream()
                .map(node -> concerned.contains(node.name()) ? node.with(npus.of(node.name(), client, now)) : node)
                .toList();
    }

    private static boolean onHostNetwork(List<TransferEngine> engines) {
        return engines.stream().anyMatch(it -> it.getSpec().hostNetwork());
    }

    /** True when a set of the pool has a storage node on every matching Kubernetes node. */
    static boolean isSpreadOverNodes(KvCachePool pool) {
        return pool.getSpec().storage().stream().anyMatch(set -> set.perNode() != null);
    }

    /** Of the namespace of a pool whose pods it may refuse; asked each time, since namespaces are not watched. */
    static Optional<String> podSecurity(KvCachePool pool, List<TransferEngine> engines, KubernetesClient client) {
        if (!NamespaceCheck.isNeeded(pool, engines)) {
            return Optional.empty();
        }
        return Optional.ofNullable(client.namespaces()
                        .withName(pool.getMetadata().getNamespace())
                        .get())
                .map(namespace -> namespace.getMetadata().getLabels())
                .map(labels -> labels.get(PoolLabels.POD_SECURITY));
    }

    /** False when the nodes with its pods are all that matter to a pool. */
    static boolean concernsAllNodes(KvCachePool pool, List<HasMetadata> children, List<ObservedPod> pods) {
        return isSpreadOverNodes(pool)
                || HostDirectories.areKnown(children)
                || pods.stream().anyMatch(LackOfMemory::concerns);
    }

    /** Looked up in the whole cache: a node is no part of a pool. */
    private static List<ObservedNode> nodes(
            KvCachePool pool, List<HasMetadata> children, List<ObservedPod> pods, Context<KvCachePool> context) {
        var nodes = (InformerEventSource<Node, KvCachePool>)
                context.eventSourceRetriever().getEventSourceFor(Node.class);
        Set<String> withPods = pods.stream().map(ObservedPod::node).collect(Collectors.toSet());
        boolean all = concernsAllNodes(pool, children, pods);
        Stream<Node> seen = all
                ? nodes.list()
                : withPods.stream().map(ResourceID::new).map(nodes::get).flatMap(Optional::stream);
        return seen.map(ObservedNode::of)
                .sorted(Comparator.comparing(ObservedNode::name))
                .toList();
    }

    /** Of all pools the operator sees. */
    private static List<PortClaim> portClaims(Context<KvCachePool> context) {
        List<PortClaim> claims = new ArrayList<>();
        for (Class<? extends HasMetadata> kind : List.of(StatefulSet.class, DaemonSet.class)) {
            var source = (InformerEventSource<? extends HasMetadata, KvCachePool>)
                    context.eventSourceRetriever().getEventSourceFor(kind);
            source.list().forEach(workload -> PortClaim.of(workload).ifPresent(claims::add));
        }
        claims.sort(PortClaim.ORDER);
        return claims;
    }

    private static List<TransferEngine> engines(KvCachePool pool, Context<KvCachePool> context) {
        var engines = (InformerEventSource<TransferEngine, KvCachePool>)
                context.eventSourceRetriever().getEventSourceFor(TransferEngine.class);
        return pool.getSpec().transferEngines().stream()
                .map(name -> engines.get(new ResourceID(name, pool.getMetadata().getNamespace())))
                .flatMap(Optional::stream)
                .toList();
    }

    private Map<String, MasterAnswer> ask(PoolObservation seen) {
        Map<String, MasterEndpoint> endpoints = new LinkedHashMap<>();
        seen.pods().stream()
                .filter(pod -> pod.role().equals(PoolLabels.ROLE_MASTER)
                        && pod.started()
                        && !pod.ip().isEmpty())
                .forEach(pod -> endpoints.put(pod.name(), seen.endpoint(pod, pod.ip())));
        return masters.ask(endpoints);
    }
}
