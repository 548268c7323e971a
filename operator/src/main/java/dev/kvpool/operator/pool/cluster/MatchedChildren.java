// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.plan.PlannedChildren;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Remembers of each pool which stored objects were found to be as planned. To make a pool's objects and to compare them by the rules
 * of server-side apply takes longer than all else that is done for a calm pool together, and the answer holds until an object or what
 * the plan for it is made from changes.
 */
public final class MatchedChildren {
    /** Pools that are remembered; of more, the objects of those that were quiet for longest are compared again. */
    static final int POOLS_MAX = 4096;

    private record Match(PlannedChildren planned, Set<StoredVersion> asPlanned, boolean all) {}

    private final Map<PoolNames, Match> byPool = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<PoolNames, Match> eldest) {
            return size() > POOLS_MAX;
        }
    };

    /** True when every planned object is among the stored ones, in the state in which it was found to be as planned. */
    boolean areAll(PlannedChildren planned, Set<StoredVersion> stored) {
        Match match = match(planned);
        return match != null && match.all() && match.planned().equals(planned) && stored.containsAll(match.asPlanned());
    }

    /** The states of stored objects that are known to be as this plan wants them. */
    Set<StoredVersion> of(PlannedChildren planned) {
        Match match = match(planned);
        return match != null && match.planned().equals(planned) ? match.asPlanned() : Set.of();
    }

    /**
     * Takes the place of what is remembered of the pool. Pools that are gone are forgotten when a further one comes.
     *
     * @param asPlanned stored objects that are as planned
     * @param all whether these are all that are planned
     * @param isThere whether there still is a pool
     */
    void remember(PlannedChildren planned, Set<StoredVersion> asPlanned, boolean all, Predicate<PoolNames> isThere) {
        Match match = new Match(planned, Set.copyOf(asPlanned), all);
        synchronized (byPool) {
            if (byPool.put(planned.blueprint().names(), match) == null) {
                byPool.keySet().removeIf(isThere.negate());
            }
        }
    }

    /** Pools of which it knows anything. */
    int size() {
        synchronized (byPool) {
            return byPool.size();
        }
    }

    private Match match(PlannedChildren planned) {
        synchronized (byPool) {
            return byPool.get(planned.blueprint().names());
        }
    }
}
