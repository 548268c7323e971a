// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.pool.transition.TransitionPlan;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which pools are brought to what this operator makes of their specs, where an earlier one made other pods of them: at most so many at a
 * time. One for an operator. A pool has its turn while steps are under way, so that one whose step has failed keeps it: what does harm to one
 * pool shall not go on to the next.
 */
final class Rollout {
    /** Between the steps of a pool others do not get its turn, unless it waits for longer than this. */
    private static final Duration PAUSE_MAX = Duration.ofMinutes(1);

    private static final Logger LOG = LoggerFactory.getLogger(Rollout.class);

    private final int pools;
    private final InstantSource clock;
    private final Map<ResourceID, Instant> turns = new HashMap<>();
    private boolean begun;

    Rollout(int pools, InstantSource clock) {
        this.pools = pools;
        this.clock = clock;
    }

    /**
     * Whether a pool has its turn, or gets it now.
     *
     * @param all pools; those that an earlier process of the operator had begun with keep their turn
     */
    synchronized boolean takes(ResourceID pool, Stream<KvCachePool> all) {
        Instant now = clock.instant();
        if (!begun) {
            all.filter(Rollout::isUnderWay).forEach(other -> turns.put(ResourceID.fromResource(other), now));
            begun = true;
        }
        turns.values().removeIf(last -> last.plus(PAUSE_MAX).isBefore(now));
        if (!turns.containsKey(pool) && turns.size() >= pools) {
            return false;
        }
        if (turns.put(pool, now) == null) {
            LOG.info("pool {} has its turn to be brought to what this operator makes of its spec", pool);
        }
        return true;
    }

    /** The last of its steps are under way, if it has its turn. */
    synchronized void goesOn(ResourceID pool) {
        turns.computeIfPresent(pool, (id, last) -> clock.instant());
    }

    synchronized void ends(ResourceID pool) {
        turns.remove(pool);
    }

    private static boolean isUnderWay(KvCachePool pool) {
        KvCachePoolStatus status = pool.getStatus();
        return status != null && TransitionPlan.isChangingSettings(status.steps());
    }
}
