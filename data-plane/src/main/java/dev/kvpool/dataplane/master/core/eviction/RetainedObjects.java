// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.tenant.TenantShares;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What clients want kept for a time, with all replicas where they lie: it is neither evicted nor moved to an SSD as long as anything
 * else can be. Removals do not look here. This leader alone knows it, and no promise to a reader depends on it. It is bounded by number and by a part of the
 * pool's memory, which what lies on an SSD counts for as well, since it may be brought back at any time.
 */
public final class RetainedObjects {
    private static final class Entry {
        private final StoredObject.Name object;
        private long untilMs;

        /** What it counts for; 0 once it is released. */
        private long bytes;

        Entry(StoredObject.Name object) {
            this.object = object;
        }
    }

    private final Index index;
    private final Membership membership;
    private final Map<StoredObject.Name, Entry> entries = new HashMap<>();

    /** The same entries, in the order in which they are looked at. */
    private final Deque<Entry> rounds = new ArrayDeque<>();

    private final TenantShares places;
    private final TenantShares bytes;

    public RetainedObjects(View view, Clients clients) {
        this.index = view.index();
        this.membership = view.membership();
        this.places = new TenantShares(clients::areAnyOfTenants);
        this.bytes = new TenantShares(clients::areAnyOfTenants);
    }

    /** Retains all of them, which are of one tenant, at least until then, or none: NO_SPACE, or QUEUE_FULL when there are too many objects. */
    public Status retain(List<StoredObject> objects, long untilMs) {
        long moreBytes = 0;
        int moreEntries = 0;
        for (StoredObject object : objects) {
            Entry known = entries.get(object.name());
            moreEntries += known == null ? 1 : 0;
            moreBytes += known == null || known.bytes == 0 ? memoryBytes(object) : 0;
        }
        Tenant tenant = objects.getFirst().tenant();
        if (!places.hasRoom(tenant, moreEntries, Bounds.RETAINED_OBJECTS_MAX)) {
            return Status.QUEUE_FULL;
        }
        if (!bytes.hasRoom(tenant, moreBytes, bytesMax())) {
            return Status.NO_SPACE;
        }
        objects.forEach(object -> retain(object, untilMs));
        return Status.OK;
    }

    private void retain(StoredObject object, long untilMs) {
        Entry entry = entries.get(object.name());
        if (entry == null) {
            entry = new Entry(object.name());
            entries.put(entry.object, entry);
            rounds.add(entry);
            places.add(entry.object.tenant(), 1);
        }
        if (entry.bytes == 0) {
            entry.bytes = memoryBytes(object);
            bytes.add(entry.object.tenant(), entry.bytes);
        }
        entry.untilMs = Math.max(entry.untilMs, untilMs);
    }

    public void release(List<StoredObject> objects) {
        for (StoredObject object : objects) {
            Entry entry = entries.get(object.name());
            if (entry != null) {
                end(entry);
            }
        }
    }

    /** The entry itself goes with the next round. */
    private void end(Entry entry) {
        bytes.add(entry.object.tenant(), -entry.bytes);
        entry.bytes = 0;
        entry.untilMs = 0;
    }

    boolean holds(StoredObject object, long nowMs) {
        if (entries.isEmpty()) {
            return false;
        }
        Entry entry = entries.get(object.name());
        return entry != null && entry.bytes > 0 && entry.untilMs > nowMs;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** What it takes in memory, once if it lies nowhere there. */
    private static long memoryBytes(StoredObject object) {
        int inMemory = 0;
        for (Replica replica : object.replicas()) {
            inMemory += replica.isInMemory() ? 1 : 0;
        }
        return Math.max(1, inMemory) * ExtentSize.of(object.key().length(), object.payloadLength());
    }

    /** Memory of engines counts only where there is no other: else one that says it lends much would have all tenants' memory retained. */
    private long bytesMax() {
        long shared = membership.sharedCapacityBytes();
        double capacity = shared > 0
                ? shared
                : membership.lentCapacityBytes().values().stream()
                        .mapToDouble(it -> it)
                        .sum();
        return (long) (capacity * Bounds.RETAINED_PART_MAX);
    }

    /** Forgets what has ended, and objects that are gone. */
    public void tick(long nowMs) {
        for (int left = Math.min(rounds.size(), Bounds.RETAINED_SEEN_PER_TICK); left > 0; left--) {
            Entry entry = rounds.remove();
            StoredObject object = index.object(entry.object);
            boolean isThere = object != null && object.fate() == StoredObject.Fate.PUBLISHED;
            if (isThere && entry.untilMs > nowMs) {
                rounds.add(entry);
            } else {
                end(entry);
                entries.remove(entry.object);
                places.add(entry.object.tenant(), -1);
            }
        }
    }

    public void endTerm() {
        entries.clear();
        rounds.clear();
        places.clear();
        bytes.clear();
    }
}
