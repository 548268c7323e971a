// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

/**
 * What a master is told at its start.
 *
 * @param name of this master
 * @param cache the rules of the pool, until {@code MasterCore#goBy} changes them
 * @param leaseDurationMs of the leadership Lease; how long a former leader may have gone on granting object leases
 * @param renewDeadlineMs how long a leader serves after it began to renew that Lease
 * @param evictionsTold whether somebody wants each {@link Action.Evicted}
 * @param recordBytesMax what the records of the index may take, if that is less than the 16 GiB it can name
 * @param wireMax the highest version of the wire protocol that this build knows
 * @param requiresCertificates whether each peer shows one
 */
public record CoreSettings(
        String name,
        CacheRules cache,
        long leaseDurationMs,
        long renewDeadlineMs,
        boolean evictionsTold,
        long recordBytesMax,
        int wireMax,
        boolean requiresCertificates) {
    public CoreSettings {
        if (leaseDurationMs <= 0) {
            throw new IllegalArgumentException("lease duration " + leaseDurationMs + " ms must be positive");
        }
    }

    /** The same with other rules of the pool. */
    public CoreSettings with(CacheRules rules) {
        return new CoreSettings(
                name,
                rules,
                leaseDurationMs,
                renewDeadlineMs,
                evictionsTold,
                recordBytesMax,
                wireMax,
                requiresCertificates);
    }
}
