// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.engine;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineStatus;
import dev.kvpool.operator.engine.status.EngineStatus;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.config.informer.Informer;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.MaxReconciliationInterval;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import io.javaoperatorsdk.operator.processing.retry.GradualRetry;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Keeps the status of transfer engines. An engine has no objects of its own: its settings reach the pods through
 * the pools that name it, which are reconciled when it changes.
 */
@ApplicationScoped
@ControllerConfiguration(
        name = "transferengine",
        fieldManager = PoolLabels.OPERATOR,
        informer = @Informer(comparableResourceVersions = false),
        maxReconciliationInterval = @MaxReconciliationInterval(interval = 5, timeUnit = TimeUnit.MINUTES))
@GradualRetry(maxAttempts = Integer.MAX_VALUE, initialInterval = 1_000, intervalMultiplier = 2, maxInterval = 30_000)
public class TransferEngineReconciler implements Reconciler<TransferEngine> {
    private final InstantSource clock;

    public TransferEngineReconciler(InstantSource clock) {
        this.clock = clock;
    }

    @Override
    public List<EventSource<?, TransferEngine>> prepareEventSources(EventSourceContext<TransferEngine> context) {
        // Every engine of the namespace: the one a pool used before it changed its mind has news as well.
        return List.of(new InformerEventSource<>(
                InformerEventSourceConfiguration.from(KvCachePool.class, TransferEngine.class)
                        .withComparableResourceVersion(false)
                        .withSecondaryToPrimaryMapper(pool -> enginesBeside(pool, context))
                        .withOnUpdateFilter(EngineStatus::mayDiffer)
                        .build(),
                context));
    }

    @Override
    public UpdateControl<TransferEngine> reconcile(TransferEngine engine, Context<TransferEngine> context) {
        String name = engine.getMetadata().getName();
        TransferEngineStatus next = EngineStatus.next(engine, poolsThatUse(engine, context), clock.instant());
        if (!poolsOf(context).isRunning()) {
            // The operator stops, and has emptied the cache of pools maybe before they were counted.
            return UpdateControl.noUpdate();
        }
        if (next.equals(engine.getStatus())) {
            return UpdateControl.noUpdate();
        }
        TransferEngine patch = new TransferEngine();
        patch.setMetadata(new ObjectMetaBuilder()
                .withName(name)
                .withNamespace(engine.getMetadata().getNamespace())
                .build());
        patch.setStatus(next);
        return UpdateControl.patchStatus(patch);
    }

    /** Looked up in the whole cache: an engine may be younger than the pools that name it. */
    private static List<KvCachePool> poolsThatUse(TransferEngine engine, Context<TransferEngine> context) {
        String name = engine.getMetadata().getName();
        return poolsOf(context)
                .list(
                        engine.getMetadata().getNamespace(),
                        pool -> pool.getSpec().transferEngines().contains(name))
                .sorted(Comparator.comparing(pool -> pool.getMetadata().getName()))
                .toList();
    }

    private static InformerEventSource<KvCachePool, TransferEngine> poolsOf(Context<TransferEngine> context) {
        return (InformerEventSource<KvCachePool, TransferEngine>)
                context.eventSourceRetriever().getEventSourceFor(KvCachePool.class);
    }

    private static Set<ResourceID> enginesBeside(KvCachePool pool, EventSourceContext<TransferEngine> context) {
        return context.getPrimaryCache()
                .list(pool.getMetadata().getNamespace())
                .map(ResourceID::fromResource)
                .collect(Collectors.toSet());
    }
}
