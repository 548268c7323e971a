// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.PlannedChildren;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.processing.dependent.kubernetes.SSABasedGenericKubernetesResourceMatcher;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Makes a pool's objects what is planned, by server-side apply under one field manager. An object that is as planned is not written,
 * one that is not of the pool is left alone.
 */
final class ChildApplier {
    /** Under which the API server knows an object in the namespace of a pool. */
    private record Name(String kind, String name) {
        static Name of(HasMetadata object) {
            return new Name(object.getKind(), object.getMetadata().getName());
        }
    }

    private final PoolObservation seen;
    private final MatchedChildren matched;
    private final Context<KvCachePool> context;
    private final List<HasMetadata> changed = new ArrayList<>();
    private final List<Finding> failures = new ArrayList<>();

    private ChildApplier(PoolObservation seen, MatchedChildren matched, Context<KvCachePool> context) {
        this.seen = seen;
        this.matched = matched;
        this.context = context;
    }

    /**
     * What was done.
     *
     * @param changed objects that were made or changed
     */
    record Applied(List<HasMetadata> changed, List<Finding> failures) {}

    static Applied apply(
            PlannedChildren planned, PoolObservation seen, MatchedChildren matched, Context<KvCachePool> context) {
        ChildApplier applier = new ChildApplier(seen, matched, context);
        Set<StoredVersion> stored =
                seen.children().stream().map(StoredVersion::of).collect(Collectors.toSet());
        if (!matched.areAll(planned, stored)) {
            applier.apply(planned);
        }
        return new Applied(applier.changed, applier.failures);
    }

    private void apply(PlannedChildren planned) {
        List<HasMetadata> children = planned.make();
        Map<Name, HasMetadata> cached =
                seen.children().stream().collect(Collectors.toMap(Name::of, Function.identity(), (one, other) -> one));
        // What informers do not show is not there, or another owner's, or was made a moment ago.
        RequestsAtOnce<HasMetadata, HasMetadata> unseen = RequestsAtOnce.send(
                children.stream()
                        .filter(child -> !cached.containsKey(Name.of(child)))
                        .toList(),
                child -> client().resource(child).get());
        Set<StoredVersion> known = matched.of(planned);
        Set<StoredVersion> asPlanned = new HashSet<>();
        List<HasMetadata> toApply = new ArrayList<>();
        for (HasMetadata child : children) {
            attempt(child, () -> {
                HasMetadata actual =
                        cached.containsKey(Name.of(child)) ? cached.get(Name.of(child)) : unseen.answer(child);
                if (actual != null && !isOf(seen.names(), actual)) {
                    failures.add(ApiWords.nameTaken(child));
                } else if (actual != null && isAsPlanned(actual, child, known)) {
                    asPlanned.add(StoredVersion.of(actual));
                } else {
                    toApply.add(child);
                }
            });
        }
        ApplyOrder.waves(toApply).forEach(this::send);
        matched.remember(planned, asPlanned, asPlanned.size() == children.size(), this::isThere);
    }

    private void send(List<HasMetadata> children) {
        RequestsAtOnce<HasMetadata, HasMetadata> applied = RequestsAtOnce.send(
                children,
                child -> client().resource(child)
                        .fieldManager(context.getControllerConfiguration().fieldManager())
                        .forceConflicts()
                        .serverSideApply());
        children.forEach(child -> attempt(child, () -> {
            applied.answer(child);
            changed.add(child);
        }));
    }

    private void attempt(HasMetadata child, Runnable action) {
        try {
            action.run();
        } catch (KubernetesClientException e) {
            failures.add(ApiWords.notChanged(child, e));
        }
    }

    private boolean isAsPlanned(HasMetadata actual, HasMetadata child, Set<StoredVersion> known) {
        return known.contains(StoredVersion.of(actual))
                || SSABasedGenericKubernetesResourceMatcher.getInstance().matches(actual, child, context);
    }

    /** Whether an object is of a pool, and not one of the same name that another has made. */
    static boolean isOf(PoolNames pool, HasMetadata child) {
        Map<String, String> labels =
                Objects.requireNonNullElse(child.getMetadata().getLabels(), Map.<String, String>of());
        return PoolLabels.OPERATOR.equals(labels.get(PoolLabels.MANAGED_BY))
                && pool.pool().equals(labels.get(PoolLabels.POOL));
    }

    private boolean isThere(PoolNames pool) {
        return context.getPrimaryCache()
                .get(new ResourceID(pool.pool(), pool.namespace()))
                .isPresent();
    }

    private KubernetesClient client() {
        return context.getClient();
    }
}
