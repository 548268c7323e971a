// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.security.TenantSpec;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import java.util.Optional;

/**
 * Whether the storage nodes that are there hold what is guaranteed to tenants. The leader reckons likewise: it guarantees what eviction
 * leaves, which is the capacity of ready storage nodes up to the low watermark, and scales guarantees that are more down by one part. Pure.
 */
final class TenantGuarantees {
    private static final long PERCENT = 100;

    private TenantGuarantees() {}

    /** Empty for a pool that guarantees nothing to any tenant. */
    static Optional<Finding> of(PoolObservation seen) {
        List<TenantSpec> guaranteed = seen.spec().tenants().stream()
                .filter(tenant -> tenant.bytes() != null && tenant.bytes().guaranteed() != null)
                .toList();
        if (guaranteed.isEmpty()) {
            return Optional.empty();
        }
        long sum = guaranteed.stream()
                .mapToLong(tenant -> ByteAmount.bytes(tenant.bytes().guaranteed()))
                .sum();
        return Optional.of(seen.leaderReport()
                .map(leader -> leader.totals().sharedCapacityBytes())
                .filter(ready -> ready > 0)
                .map(ready -> finding(seen, ready, sum))
                .orElseGet(() -> new Finding(
                        Reason.GUARANTEES_NOT_OBSERVED,
                        "No leader with ready storage nodes answered, which would say how much can be guaranteed.")));
    }

    private static Finding finding(PoolObservation seen, long ready, long sum) {
        int low = seen.spec().cache().eviction().lowWatermarkPercent();
        // In parts, as the product of a large capacity would overflow.
        long room = ready / PERCENT * low + ready % PERCENT * low / PERCENT;
        String sums =
                "Tenants are guaranteed %s together; the storage nodes that are ready hold %s, of which %s lie below the low"
                                .formatted(ByteAmount.rounded(sum), ByteAmount.rounded(ready), ByteAmount.rounded(room))
                        + " watermark of %d%%.".formatted(low);
        if (sum <= room) {
            return new Finding(Reason.GUARANTEES_FIT, sums);
        }
        return new Finding(
                Reason.GUARANTEES_SCALED_DOWN,
                "%s Until the one is more or the other less, each has %d%% of its guarantee."
                        .formatted(sums, (long) (room * (double) PERCENT / sum)));
    }
}
