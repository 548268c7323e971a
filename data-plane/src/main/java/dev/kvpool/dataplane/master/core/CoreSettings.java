// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

/**
 * The rules of a pool.
 *
 * @param name of this master
 * @param objectLeaseMs how long an object a reader was told about is neither evicted nor removed
 * @param replicas copies of an object on different nodes when the client does not say
 * @param repairDelayMs how long a node may be away before its replicas are made anew elsewhere
 * @param repairBytesPerSecond what copies may take of a node, in each direction
 * @param leaseDurationMs of the leadership Lease; how long a former leader may have gone on granting object leases
 * @param evictionsTold whether somebody wants each {@link Action.Evicted}
 */
public record CoreSettings(
        String name,
        long objectLeaseMs,
        EvictionRules eviction,
        int replicas,
        long leaseDurationMs,
        long repairDelayMs,
        long repairBytesPerSecond,
        boolean evictionsTold) {
    public CoreSettings {
        if (repairDelayMs < 0 || repairBytesPerSecond <= 0) {
            throw new IllegalArgumentException("repair delay " + repairDelayMs + " ms and repair rate "
                    + repairBytesPerSecond + " bytes/s must be positive");
        }
        if (objectLeaseMs < 0 || leaseDurationMs <= 0 || replicas < 1) {
            throw new IllegalArgumentException("object lease " + objectLeaseMs + " ms, lease duration "
                    + leaseDurationMs + " ms and " + replicas + " replicas must be positive");
        }
    }

    /** With these watermarks, no takeover reserve, and nobody who is told of evictions. */
    public CoreSettings(
            String name,
            long objectLeaseMs,
            double highWatermark,
            double lowWatermark,
            int replicas,
            long leaseDurationMs,
            long repairDelayMs,
            long repairBytesPerSecond) {
        this(
                name,
                objectLeaseMs,
                EvictionRules.between(lowWatermark, highWatermark),
                replicas,
                leaseDurationMs,
                repairDelayMs,
                repairBytesPerSecond,
                false);
    }
}
