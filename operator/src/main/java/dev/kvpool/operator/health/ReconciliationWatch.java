// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.health;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.javaoperatorsdk.operator.api.reconciler.RetryInfo;
import io.javaoperatorsdk.operator.processing.GroupVersionKind;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Notices reconciliations that hang, and a queue of them that does not move. It listens where the SDK counts its metrics, because
 * that is the one place where all of them pass. An operator that waits to be elected reconciles nothing and is well.
 */
public final class ReconciliationWatch implements Metrics {
    /** Longer than the waits of one reconciliation together: every one of them is bounded by seconds. */
    static final Duration RUN_LIMIT = Duration.ofMinutes(5);

    /** Longer than it takes a queue of 1000 pools whose masters do not answer. */
    static final Duration WAIT_LIMIT = Duration.ofMinutes(10);

    /** For kinds of which each resource is looked at again within 5 minutes: one of them should have been. */
    static final Duration STILL_LIMIT = Duration.ofMinutes(15);

    /** Others are left alone until something changes. */
    private static final Set<String> LOOKED_AT_AGAIN = Set.of("KvCachePool", "TransferEngine");

    private record Running(String what, long sinceNanos) {}

    private final LongSupplier nanos;

    /** By thread: the SDK may submit a resource again before it says that the reconciliation before has ended. */
    private final Map<Thread, Running> running = new ConcurrentHashMap<>();

    private final Map<String, Long> waiting = new ConcurrentHashMap<>();
    private final Set<String> known = ConcurrentHashMap.newKeySet();
    private final AtomicLong moved;

    /**
     * Makes a watch.
     *
     * @param nanos a clock that never jumps
     */
    public ReconciliationWatch(LongSupplier nanos) {
        this.nanos = nanos;
        moved = new AtomicLong(nanos.getAsLong());
    }

    /** What does not move, in a sentence that names the bound; empty when all is well. */
    public Optional<String> trouble() {
        long now = nanos.getAsLong();
        Optional<Running> longest = running.values().stream()
                .reduce((one, other) -> now - one.sinceNanos() >= now - other.sinceNanos() ? one : other);
        if (longest.isPresent() && now - longest.get().sinceNanos() > RUN_LIMIT.toNanos()) {
            return Optional.of("The reconciliation of %s has run for %d s, longer than %d s."
                    .formatted(longest.get().what(), seconds(now - longest.get().sinceNanos()), RUN_LIMIT.toSeconds()));
        }
        Optional<Map.Entry<String, Long>> oldest = oldest(waiting.entrySet(), now);
        if (oldest.isPresent() && now - oldest.get().getValue() > WAIT_LIMIT.toNanos()) {
            return Optional.of("%s has waited for its reconciliation for %d s, longer than %d s."
                    .formatted(oldest.get().getKey(), seconds(now - oldest.get().getValue()), WAIT_LIMIT.toSeconds()));
        }
        if (!known.isEmpty() && now - moved.get() > STILL_LIMIT.toNanos()) {
            return Optional.of("None of %d resources was reconciled for %d s, longer than %d s."
                    .formatted(known.size(), seconds(now - moved.get()), STILL_LIMIT.toSeconds()));
        }
        return Optional.empty();
    }

    @Override
    public void reconciliationSubmitted(HasMetadata resource, RetryInfo retry, Map<String, Object> metadata) {
        String what = name(resource);
        if (LOOKED_AT_AGAIN.contains(resource.getKind())) {
            if (known.isEmpty()) {
                moved.set(nanos.getAsLong());
            }
            known.add(what);
        }
        waiting.putIfAbsent(what, nanos.getAsLong());
    }

    @Override
    public void reconciliationStarted(HasMetadata resource, Map<String, Object> metadata) {
        String what = name(resource);
        waiting.remove(what);
        running.put(Thread.currentThread(), new Running(what, nanos.getAsLong()));
    }

    @Override
    public void reconciliationFinished(HasMetadata resource, RetryInfo retry, Map<String, Object> metadata) {
        moved.set(nanos.getAsLong());
        if (running.remove(Thread.currentThread()) == null) {
            // Gone before it was started.
            waiting.remove(name(resource));
        }
    }

    @Override
    public void cleanupDone(ResourceID resource, Map<String, Object> metadata) {
        GroupVersionKind kind = (GroupVersionKind) metadata.get(Constants.RESOURCE_GVK_KEY);
        String what =
                "%s %s/%s".formatted(kind.getKind(), resource.getNamespace().orElse(""), resource.getName());
        known.remove(what);
        waiting.remove(what);
    }

    private static Optional<Map.Entry<String, Long>> oldest(Collection<Map.Entry<String, Long>> entries, long now) {
        return entries.stream().reduce((one, other) -> now - one.getValue() >= now - other.getValue() ? one : other);
    }

    private static String name(HasMetadata resource) {
        return "%s %s/%s"
                .formatted(
                        resource.getKind(),
                        resource.getMetadata().getNamespace(),
                        resource.getMetadata().getName());
    }

    private static long seconds(long durationNanos) {
        return Duration.ofNanos(durationNanos).toSeconds();
    }
}
