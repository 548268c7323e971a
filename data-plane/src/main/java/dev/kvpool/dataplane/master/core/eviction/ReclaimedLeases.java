// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Leases that are not lengthened. A tenant that is below its guarantee and finds no room waits for leases of what others have above theirs;
 * these would never end where they are renewed again and again. So much of it as is wanted gives way: its leases run out, and then it is evicted.
 */
public final class ReclaimedLeases {
    private final GuaranteedRoom guaranteed;
    private final LongSupplier leaseMs;
    private final Set<StoredObject.Name> reclaimed = new HashSet<>();
    private long reclaimedBytes;
    private long wantedBytes;
    private long untilMs = Long.MIN_VALUE;
    private long lookedMs = Long.MIN_VALUE;

    /** @param leaseMs how long objects are leased */
    public ReclaimedLeases(CurrentRules rules, View view, LongSupplier leaseMs) {
        this.guaranteed = new GuaranteedRoom(rules, view);
        this.leaseMs = leaseMs;
    }

    /** A writer of this tenant found no room for so many bytes, and nothing that may be evicted. */
    public void want(Tenant tenant, long bytes, long nowMs) {
        if (nowMs != lookedMs) { // once for all keys of a request
            guaranteed.look(bytes);
            lookedMs = nowMs;
        }
        long owed = guaranteed.owedBytes(tenant);
        if (owed < bytes) {
            return;
        }
        if (nowMs >= untilMs) {
            end();
        }
        wantedBytes = Math.min(owed, wantedBytes + bytes);
        untilMs = nowMs + Bounds.RECLAIM_LEASES * leaseMs.getAsLong();
    }

    /** Whether there are any. */
    public boolean isAny(long nowMs) {
        return nowMs < untilMs;
    }

    /** Whether the lease of this object is not to be lengthened; it may become one of those by being asked for. */
    public boolean isOne(StoredObject object, long nowMs) {
        if (!isAny(nowMs)) {
            return false;
        }
        if (reclaimed.contains(object.name())) {
            return true;
        }
        boolean isEnough = reclaimedBytes >= wantedBytes || reclaimed.size() >= Bounds.RECLAIMED_OBJECTS_MAX;
        if (isEnough || !isInSharedMemory(object) || !guaranteed.mayLose(object, false)) {
            return false;
        }
        reclaimed.add(object.name());
        reclaimedBytes += object.countedBytes();
        return true;
    }

    /** What engines lend is of no use to other tenants. */
    private static boolean isInSharedMemory(StoredObject object) {
        for (Replica replica : object.replicas()) {
            if (replica.isInMemory() && !replica.node().isTransient()) {
                return true;
            }
        }
        return false;
    }

    /** No lease is reclaimed any more. */
    public void end() {
        reclaimed.clear();
        reclaimedBytes = 0;
        wantedBytes = 0;
        untilMs = Long.MIN_VALUE;
    }
}
