// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.PrimaryToSecondaryMapper;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What makes a pool be looked at again: a change of one of its objects, its pods, its Lease's holder, its transfer
 * engine or the Kubernetes nodes that its storage pods are on; with perNode sets all nodes.
 *
 * <p>Objects are found by label, not by owner: retained ones have none. Java Operator SDK 5.3.0 to 5.3.4 loses changes
 * of others that arrive during a write of its own when it compares resource versions, so that is off everywhere.
 */
public final class PoolEventSources {
    /** Kinds of the objects the operator makes. */
    static final List<Class<? extends HasMetadata>> CHILD_KINDS = List.of(
            ServiceAccount.class,
            Role.class,
            RoleBinding.class,
            Lease.class,
            ConfigMap.class,
            Service.class,
            PodDisruptionBudget.class,
            NetworkPolicy.class,
            StatefulSet.class,
            DaemonSet.class,
            Job.class);

    private static final String BY_POOL = "pool";

    private PoolEventSources() {}

    public static List<EventSource<?, KvCachePool>> of(EventSourceContext<KvCachePool> context) {
        List<EventSource<?, KvCachePool>> sources = new ArrayList<>();
        CHILD_KINDS.stream()
                .filter(kind -> kind != Lease.class)
                .forEach(kind -> sources.add(byPool(labelled(kind), context)));
        sources.add(byPool(labelled(Lease.class).withOnUpdateFilter(PoolEventSources::concernsLeadership), context));
        InformerEventSource<Pod, KvCachePool> pods =
                byPool(labelled(Pod.class).withOnUpdateFilter(PoolEventSources::concernsPool), context);
        sources.add(pods);
        sources.add(nodes(context, pods));
        sources.add(engines(context));
        return sources;
    }

    /**
     * False once the operator stops: its caches are emptied while reconciliations are still under way, and an empty cache looks like
     * a pool whose pods are gone. What was read before this said true is whole.
     */
    public static boolean areRunning(Context<KvCachePool> context) {
        return Stream.concat(CHILD_KINDS.stream(), Stream.of(Pod.class, Node.class, TransferEngine.class))
                .map(kind -> context.eventSourceRetriever().getEventSourceFor(kind))
                .allMatch(source -> ((InformerEventSource<?, ?>) source).isRunning());
    }

    /**
     * The objects of a kind that carry the labels of a pool. Not from the context: that puts them into sets, and so reckons hash codes of
     * whole objects, and has each of them remember views of its maps for that.
     */
    static <R extends HasMetadata> List<R> ofPool(Class<R> kind, KvCachePool pool, Context<KvCachePool> context) {
        var source = (InformerEventSource<R, KvCachePool>)
                context.eventSourceRetriever().getEventSourceFor(kind);
        return source.byIndex(BY_POOL, indexKey(ResourceID.fromResource(pool)));
    }

    private static <R extends HasMetadata> InformerEventSource<R, KvCachePool> byPool(
            InformerEventSourceConfiguration.Builder<R> objects, EventSourceContext<KvCachePool> context) {
        InformerEventSource<R, KvCachePool> source = new InformerEventSource<>(objects.build(), context);
        source.addIndexers(Map.of(BY_POOL, child -> List.of(indexKey(poolOf(child)))));
        return source;
    }

    private static String indexKey(ResourceID pool) {
        return pool.getNamespace().orElse("") + "/" + pool.getName();
    }

    private static <R extends HasMetadata> InformerEventSourceConfiguration.Builder<R> labelled(Class<R> kind) {
        return InformerEventSourceConfiguration.from(kind, KvCachePool.class)
                .withLabelSelector(PoolLabels.ALL_CHILDREN)
                .withComparableResourceVersion(false)
                .withSecondaryToPrimaryMapper(child -> Set.of(poolOf(child)));
    }

    private static ResourceID poolOf(HasMetadata child) {
        return new ResourceID(
                child.getMetadata().getLabels().get(PoolLabels.POOL),
                child.getMetadata().getNamespace());
    }

    private static boolean isOn(Node node, Pod pod) {
        return pod.getSpec() != null
                && node.getMetadata().getName().equals(pod.getSpec().getNodeName());
    }

    /** Nodes come, go, are cordoned, and change labels and taints; pools mind that have pods there or perNode sets. */
    private static EventSource<?, KvCachePool> nodes(
            EventSourceContext<KvCachePool> context, InformerEventSource<Pod, KvCachePool> pods) {
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(Node.class, KvCachePool.class)
                        .withComparableResourceVersion(false)
                        .withWatchAllNamespaces()
                        .withSecondaryToPrimaryMapper(node -> Stream.concat(
                                        context.getPrimaryCache()
                                                .list(PoolObserver::isSpreadOverNodes)
                                                .map(ResourceID::fromResource),
                                        pods.list()
                                                .filter(pod -> isOn(node, pod))
                                                .map(PoolEventSources::poolOf))
                                .collect(Collectors.toSet()))
                        .withOnUpdateFilter(
                                (now, before) -> !ObservedNode.of(now).equals(ObservedNode.of(before)))
                        .build(),
                context);
    }

    private static EventSource<?, KvCachePool> engines(EventSourceContext<KvCachePool> context) {
        PrimaryToSecondaryMapper<KvCachePool> enginesOfPool = pool -> pool.getSpec().transferEngines().stream()
                .map(name -> new ResourceID(name, pool.getMetadata().getNamespace()))
                .collect(Collectors.toSet());
        return new InformerEventSource<>(
                InformerEventSourceConfiguration.from(TransferEngine.class, KvCachePool.class)
                        .withComparableResourceVersion(false)
                        .withPrimaryToSecondaryMapper(enginesOfPool)
                        .withSecondaryToPrimaryMapper(engine -> poolsThatUse(engine, context))
                        .withOnUpdateFilter((now, before) -> !Objects.equals(now.getSpec(), before.getSpec()))
                        .build(),
                context);
    }

    private static Set<ResourceID> poolsThatUse(TransferEngine engine, EventSourceContext<KvCachePool> context) {
        String name = engine.getMetadata().getName();
        return context.getPrimaryCache()
                .list(
                        engine.getMetadata().getNamespace(),
                        pool -> pool.getSpec().transferEngines().contains(name))
                .map(ResourceID::fromResource)
                .collect(Collectors.toSet());
    }

    /** A Lease is renewed every second or so; only a new holder, or a foreign change of what we own, is of interest. */
    private static boolean concernsLeadership(Lease now, Lease before) {
        return !Leadership.of(now).equals(Leadership.of(before))
                || !Objects.equals(
                        now.getMetadata().getLabels(), before.getMetadata().getLabels())
                || !Objects.equals(
                        now.getMetadata().getOwnerReferences(),
                        before.getMetadata().getOwnerReferences());
    }

    /** A pod's status changes often in ways that mean nothing to a pool. */
    private static boolean concernsPool(Pod now, Pod before) {
        return !ObservedPod.of(now).equals(ObservedPod.of(before));
    }
}
