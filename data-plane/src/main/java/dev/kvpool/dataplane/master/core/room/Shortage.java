// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.room;

import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashMap;
import java.util.Map;

/** Room on one node that writers look for and do not find: how much, and when some may come. */
public final class Shortage {
    public static final long NO_ROOM_EVER = Long.MAX_VALUE;

    /** Bytes that must become free although the node is below its watermark. */
    private long wantedBytes;

    /** What tenants with a ceiling want of that. */
    private final Map<Tenant, Long> wantedOf = new HashMap<>();

    private long barrenUntilMs = Long.MIN_VALUE;
    private long comesMs = Long.MIN_VALUE;

    /** The same of the walk under way. */
    private long soonestMs = NO_ROOM_EVER;

    /** A writer found no room for so many bytes; more than the node has is of no use. */
    void want(long bytes, long capacityBytes) {
        wantedBytes = Math.min(capacityBytes, wantedBytes + bytes);
    }

    /** The same for a writer of a tenant that has a ceiling. */
    void want(Tenant tenant, long bytes, long capacityBytes) {
        long before = wantedBytes;
        want(bytes, capacityBytes);
        wantedOf.merge(tenant, wantedBytes - before, Long::sum);
    }

    public long wantedBytesOf(Tenant tenant) {
        return wantedOf.getOrDefault(tenant, 0L);
    }

    public long wantedBytes() {
        return wantedBytes;
    }

    public void wantNothing() {
        wantedBytes = 0;
        wantedOf.clear();
    }

    /** So many bytes are about to become free. */
    public void gone(long bytes) {
        wantedBytes = Math.max(0, wantedBytes - bytes);
        long left = bytes;
        for (var each = wantedOf.entrySet().iterator(); each.hasNext() && left > 0; ) {
            Map.Entry<Tenant, Long> wanted = each.next();
            long gone = Math.min(left, wanted.getValue());
            left -= gone;
            wanted.setValue(wanted.getValue() - gone);
            if (wanted.getValue() == 0) {
                each.remove();
            }
        }
    }

    /** Room may come at any moment. */
    public void roomMayCome() {
        comesMs = Long.MIN_VALUE;
    }

    /** A walk over what may be evicted begins, which leaves out what may go at this time. */
    public void walkBegins(long leftOutUntilMs) {
        soonestMs = leftOutUntilMs;
    }

    /** The walk came by something that may go at this time. */
    public void passedBy(long mayGoMs) {
        soonestMs = Math.min(soonestMs, mayGoMs);
    }

    /** The walk found nothing that may go: nothing more is sought here for a while. */
    public void foundNothing(long untilMs) {
        barrenUntilMs = untilMs;
        comesMs = soonestMs;
    }

    /** Whether nothing that the walk under way came by may go before this time. */
    public boolean nothingComesBefore(long ms) {
        return soonestMs > ms;
    }

    /** All the node holds was found leased or pinned a moment ago. */
    public boolean isBarren(long nowMs) {
        return nowMs < barrenUntilMs;
    }

    /** When the first of what the node holds may go, as far as a walk has found; {@link #NO_ROOM_EVER} when all of it is pinned for good. */
    long comesMs() {
        return comesMs;
    }
}
