// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterClient;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Looks at a pool: at its objects in the informers' caches, at its data plane through the masters. Writes nothing. */
final class PoolObserver {
    private final MasterClient masters;

    PoolObserver(MasterClient masters) {
        this.masters = masters;
    }

    PoolObservation observe(KvCachePool pool, Context<KvCachePool> context) {
        List<HasMetadata> children = new ArrayList<>();
        for (Class<? extends HasMetadata> kind : PoolEventSources.CHILD_KINDS) {
            context.getSecondaryResources(kind).stream()
                    .sorted(Comparator.comparing(child -> child.getMetadata().getName()))
                    .forEach(children::add);
        }
        List<ObservedPod> pods = context.getSecondaryResources(Pod.class).stream()
                .map(ObservedPod::of)
                .sorted(Comparator.comparing(ObservedPod::name))
                .toList();
        return new PoolObservation(pool, engine(pool, context), children, pods, leadership(pool, children), ask(pods));
    }

    private static Optional<TransferEngine> engine(KvCachePool pool, Context<KvCachePool> context) {
        return context.getSecondaryResources(TransferEngine.class).stream()
                .filter(engine ->
                        engine.getMetadata().getName().equals(pool.getSpec().transferEngine()))
                .findFirst();
    }

    private static Optional<Leadership> leadership(KvCachePool pool, List<HasMetadata> children) {
        String name =
                new PoolNames(pool.getMetadata().getName(), pool.getMetadata().getNamespace()).lease();
        return children.stream()
                .filter(child ->
                        child instanceof Lease && child.getMetadata().getName().equals(name))
                .map(Lease.class::cast)
                .findFirst()
                .flatMap(Leadership::of);
    }

    private Map<String, MasterAnswer> ask(List<ObservedPod> pods) {
        Map<String, String> addresses = new LinkedHashMap<>();
        pods.stream()
                .filter(pod -> pod.role().equals(PoolLabels.ROLE_MASTER)
                        && pod.started()
                        && !pod.ip().isEmpty())
                .forEach(pod -> addresses.put(pod.name(), pod.ip()));
        return masters.ask(addresses);
    }
}
