// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.transition.TransitionPlan;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Which pools are brought to what this operator makes of their specs, where an earlier one made other pods of them: at most so many at a
 * time. One for an operator. A pool has its turn while steps are under way, so that one whose step has failed keeps it: what does harm to one
 * pool shall not go on to the next. A metric says which pools have it: a user who waits may not see the pools of other namespaces, and the administrator who
 * runs the operator sees its metrics.
 */
final class Rollout {
    /** Between the steps of a pool others do not get its turn, unless it waits for longer than this. */
    private static final Duration PAUSE_MAX = Duration.ofMinutes(1);

    private final int pools;
    private final InstantSource clock;
    private final MeterRegistry registry;
    private final Map<ResourceID, Instant> turns = new HashMap<>();
    private final Map<ResourceID, Gauge> gauges = new HashMap<>();
    private boolean begun;

    Rollout(int pools, InstantSource clock, MeterRegistry registry) {
        this.pools = pools;
        this.clock = clock;
        this.registry = registry;
    }

    /**
     * Whether a pool has its turn, or gets it now.
     *
     * @param all pools; those that an earlier process of the operator had begun with keep their turn
     * @param told takes what there is to tell about the pool
     */
    synchronized boolean takes(ResourceID pool, Stream<KvCachePool> all, Consumer<Notice> told) {
        Instant now = clock.instant();
        if (!begun) {
            all.filter(Rollout::isUnderWay).forEach(other -> turns.put(ResourceID.fromResource(other), now));
            begun = true;
        }
        turns.values().removeIf(last -> last.plus(PAUSE_MAX).isBefore(now));
        boolean takes = turns.containsKey(pool) || turns.size() < pools;
        if (takes && turns.put(pool, now) == null) {
            told.accept(new Notice(
                    EventReason.ROLLOUT_TURN,
                    "An earlier operator made pods of the pool: it is the turn of this pool to get new ones. Other pools may wait"
                            + " meanwhile."));
        }
        measure();
        return takes;
    }

    /** The last of its steps are under way, if it has its turn. */
    synchronized void goesOn(ResourceID pool) {
        turns.computeIfPresent(pool, (id, last) -> clock.instant());
    }

    synchronized void ends(ResourceID pool) {
        turns.remove(pool);
        measure();
    }

    private void measure() {
        turns.keySet().forEach(pool -> gauges.computeIfAbsent(pool, this::gauge));
        gauges.entrySet().removeIf(entry -> {
            boolean over = !turns.containsKey(entry.getKey());
            if (over) {
                registry.remove(entry.getValue());
            }
            return over;
        });
    }

    /** Not "namespace", which is the operator's own in the series that Prometheus makes of it. */
    private Gauge gauge(ResourceID pool) {
        return Gauge.builder("kvpool.rollout.turn", () -> 1)
                .description("1 for a pool that is brought to what this operator makes of its spec, while others wait.")
                .tag("pool_namespace", pool.getNamespace().orElse(""))
                .tag("pool", pool.getName())
                .strongReference(true)
                .register(registry);
    }

    private static boolean isUnderWay(KvCachePool pool) {
        KvCachePoolStatus status = pool.getStatus();
        return status != null && TransitionPlan.isChangingSettings(status.steps());
    }
}
