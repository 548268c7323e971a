// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.Rounding;
import java.util.Optional;

/**
 * How many objects a pool has, and how many of them suffer from nodes that are away, as the status shows it: rounded, and unchanged
 * while nothing of interest happens. Pure.
 *
 * @param all objects in the pool; null while no leader has been asked
 * @param unavailable those that cannot be read, since all their nodes are away; null when there are none
 * @param underReplicated those with fewer copies than they should have, unavailable ones included; null when there are none
 */
record ObjectCounts(Long all, Long unavailable, Long underReplicated) {

    /** What is shown next; without a report what was shown before. */
    static ObjectCounts next(KvCachePoolStatus old, Optional<PoolReport> report) {
        return report.map(PoolReport::totals)
                .map(says -> new ObjectCounts(
                        shown(old.objects(), says.objects(), says.objects()),
                        some(shown(old.unavailableObjects(), says.unavailableObjects(), says.objects())),
                        some(copies(old.underReplicatedObjects(), says))))
                .orElseGet(
                        () -> new ObjectCounts(old.objects(), old.unavailableObjects(), old.underReplicatedObjects()));
    }

    /** Sentences, each with a blank before it; empty when all objects are there, with all their copies. */
    String sentence() {
        String lost = unavailable == null
                ? ""
                : " About %d of %d objects cannot be read: all nodes that hold them are unavailable."
                        .formatted(unavailable, all);
        return underReplicated == null
                ? lost
                : lost
                        + " About %d of %d objects have fewer copies than spec.cache.replicas asks for."
                                .formatted(underReplicated, all);
    }

    private static Long shown(Long before, long now, long total) {
        return before != null && Rounding.calm(before, now, total) ? before : Long.valueOf(Rounding.twoDigits(now));
    }

    /** Where objects come and go all the time, a few always wait for a copy: less than a hundredth is not worth a write. */
    private static long copies(Long before, PoolReport.Totals says) {
        boolean noise = before == null && Rounding.isNoise(says.underReplicatedObjects(), says.objects());
        return noise ? 0 : shown(before, says.underReplicatedObjects(), says.objects());
    }

    private static Long some(long count) {
        return count == 0 ? null : Long.valueOf(count);
    }
}
