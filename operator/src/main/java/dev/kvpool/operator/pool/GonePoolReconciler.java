// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import dev.kvpool.operator.event.recorder.EventRecorder;
import dev.kvpool.operator.pool.gone.GonePlan;
import dev.kvpool.operator.pool.gone.GonePool;
import dev.kvpool.operator.pool.naming.DirectoryList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.storage.NodeDirectory;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * Removes directories of nodes for pools that were deleted with deletionPolicy Delete, also while no operator ran. It starts from
 * the list that a pool leaves behind, and reads all else from the API server again: what it does cannot be taken back.
 */
@ApplicationScoped
@ControllerConfiguration(
        name = "gonepool",
        fieldManager = PoolLabels.OPERATOR,
        generationAwareEventProcessing = false,
        informer = @Informer(labelSelector = PoolLabels.DIRECTORY_LISTS, comparableResourceVersions = false))
@GradualRetry(maxAttempts = Integer.MAX_VALUE, initialInterval = 1_000, intervalMultiplier = 2, maxInterval = 30_000)
public class GonePoolReconciler implements Reconciler<ConfigMap> {
    private static final Duration NEXT_LOOK = Duration.ofSeconds(5);

    private final OperatorSettings settings;
    private final EventRecorder events;

    public GonePoolReconciler(OperatorSettings settings, EventRecorder events) {
        this.settings = settings;
        this.events = events;
    }

    @Override
    public List<EventSource<?, ConfigMap>> prepareEventSources(EventSourceContext<ConfigMap> context) {
        return List.of(new InformerEventSource<>(
                InformerEventSourceConfiguration.from(KvCachePool.class, ConfigMap.class)
                        .withComparableResourceVersion(false)
                        .withSecondaryToPrimaryMapper(pool -> listsOf(pool, context))
                        .withOnAddFilter(pool -> false)
                        .withOnUpdateFilter((now, before) -> false)
                        .build(),
                context));
    }

    @Override
    public UpdateControl<ConfigMap> reconcile(ConfigMap written, Context<ConfigMap> context) {
        Optional<DirectoryList> deleted = DirectoryList.of(written)
                .filter(it -> it.policy() == DeletionPolicy.DELETE)
                .filter(it -> !isThere(it, written, context));
        if (deleted.isEmpty() || !poolsOf(context).isRunning()) {
            // An operator that stops empties its cache of pools, maybe before it was asked.
            return UpdateControl.noUpdate();
        }
        return clean(written, deleted.get(), context);
    }

    private UpdateControl<ConfigMap> clean(ConfigMap written, DirectoryList list, Context<ConfigMap> context) {
        KubernetesClient client = context.getClient();
        GonePlan plan = GonePlan.of(look(written, list, client), settings.image());
        plan.jobs()
                .forEach(job -> client.resource(job)
                        .fieldManager(PoolLabels.OPERATOR)
                        .forceConflicts()
                        .serverSideApply());
        plan.notices().forEach(notice -> events.publish(written, notice));
        if (plan.isFinished()) {
            delete(written, client);
            return UpdateControl.noUpdate();
        }
        SortedMap<String, String> remaining = NodeDirectory.list(plan.remaining());
        if (!remaining.equals(list.paths())) {
            shorten(written, list, remaining, client);
        }
        return UpdateControl.<ConfigMap>noUpdate().rescheduleAfter(NEXT_LOOK);
    }

    /** The cache knows pools of other namespaces too, in case the list names one of theirs; the API server has the last word. */
    private static boolean isThere(DirectoryList list, ConfigMap written, Context<ConfigMap> context) {
        List<String> identities = List.of(list.uid(), list.poolId());
        return poolsOf(context)
                        .list(pool -> identities.contains(pool.getMetadata().getUid()))
                        .findAny()
                        .isPresent()
                || context
                        .getClient()
                        .resources(KvCachePool.class)
                        .inNamespace(written.getMetadata().getNamespace())
                        .withField("metadata.name", list.pool())
                        .list()
                        .getItems()
                        .stream()
                        .anyMatch(pool -> identities.contains(pool.getMetadata().getUid()));
    }

    private static InformerEventSource<KvCachePool, ConfigMap> poolsOf(Context<ConfigMap> context) {
        return (InformerEventSource<KvCachePool, ConfigMap>)
                context.eventSourceRetriever().getEventSourceFor(KvCachePool.class);
    }

    private static GonePool look(ConfigMap written, DirectoryList list, KubernetesClient client) {
        List<ObservedNode> nodes =
                client.nodes().list().getItems().stream().map(ObservedNode::of).toList();
        return new GonePool(
                written,
                list,
                ofPool(DaemonSet.class, written, list, client),
                ofPool(Pod.class, written, list, client),
                ofPool(Job.class, written, list, client),
                nodes.stream().map(ObservedNode::name).collect(Collectors.toSet()),
                nodes.stream()
                        .filter(ObservedNode::ready)
                        .map(ObservedNode::name)
                        .collect(Collectors.toSet()));
    }

    private static <T extends HasMetadata> List<T> ofPool(
            Class<T> kind, ConfigMap written, DirectoryList list, KubernetesClient client) {
        return client.resources(kind)
                .inNamespace(written.getMetadata().getNamespace())
                .withLabel(PoolLabels.MANAGED_BY, PoolLabels.OPERATOR)
                .withLabel(PoolLabels.POOL, list.pool())
                .list()
                .getItems();
    }

    /** What is gone from the nodes is gone from the list; refused when it was written meanwhile. */
    private static void shorten(
            ConfigMap written, DirectoryList list, SortedMap<String, String> remaining, KubernetesClient client) {
        // Neither keys of ConfigMaps nor paths that are believed need to be escaped in JSON.
        String data = list.paths().keySet().stream()
                .map(id -> remaining.containsKey(id)
                        ? "\"%s\": \"%s\"".formatted(id, remaining.get(id))
                        : "\"%s\": null".formatted(id))
                .collect(Collectors.joining(", "));
        String patch = "{\"metadata\": {\"resourceVersion\": \"%s\"}, \"data\": {%s}}"
                .formatted(written.getMetadata().getResourceVersion(), data);
        client.resource(written).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
    }

    /** Refused when it was written meanwhile. Its Jobs go with it. */
    private static void delete(ConfigMap written, KubernetesClient client) {
        client.resource(written)
                .lockResourceVersion(written.getMetadata().getResourceVersion())
                .delete();
    }

    private static Set<ResourceID> listsOf(KvCachePool pool, EventSourceContext<ConfigMap> context) {
        return context.getPrimaryCache()
                .list(
                        pool.getMetadata().getNamespace(),
                        list -> Optional.ofNullable(
                                        list.getMetadata().getLabels().get(PoolLabels.POOL))
                                .filter(pool.getMetadata().getName()::equals)
                                .isPresent())
                .map(ResourceID::fromResource)
                .collect(Collectors.toSet());
    }
}
