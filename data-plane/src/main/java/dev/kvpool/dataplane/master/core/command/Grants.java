// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.command;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.master.core.tenant.TenantShares;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/** The puts under way: at most one newest grant for a key. */
public final class Grants {
    private static final int ENDED_KEPT = 1024;

    /** In the order in which they were given, which is that of their ids. */
    private final Map<ObjectId, Grant> byId = new LinkedHashMap<>();

    private final Map<Key, Grant> newest = new HashMap<>();

    private final LateWrites lateWrites;

    /** Ended grants leave this queue when they come to its head. */
    private final PriorityQueue<Grant> byDeadline = new PriorityQueue<>(Comparator.comparingLong(g -> g.deadlineMs));

    private final TenantAccounts accounts;
    private final TenantShares shares;

    /** @param accounts what is granted counts there until it ends, by then as stored if it was published */
    public Grants(LateWrites lateWrites, TenantAccounts accounts, Clients clients) {
        this.lateWrites = lateWrites;
        this.accounts = accounts;
        this.shares = new TenantShares(clients::areAnyOfTenants);
    }

    public int size() {
        return byId.size();
    }

    /** Whether there is no room for one more of this tenant. */
    public boolean isFull(Tenant tenant) {
        return !shares.hasRoom(tenant, 1, Bounds.GRANTS_MAX);
    }

    public void add(Grant grant) {
        // One grant that its client has forgotten must not let those behind it, long ended, pile up.
        if (byDeadline.size() > 2 * byId.size() + ENDED_KEPT) {
            byDeadline.removeIf(queued -> byId.get(queued.id) != queued);
        }
        byId.put(grant.id, grant);
        newest.put(grant.key, grant);
        byDeadline.add(grant);
        accounts.granted(grant.key, 1, grant.countedBytes());
        shares.add(Tenant.of(grant.key), 1);
        grant.bookPin(accounts);
    }

    private void takeBack(Grant grant) {
        accounts.granted(grant.key, -1, -grant.countedBytes());
        shares.add(Tenant.of(grant.key), -1);
        grant.takePinBack(accounts);
    }

    /** The grant with this id, or null when it has ended. */
    public Grant byId(ObjectId id) {
        return byId.get(id);
    }

    /** The id of the oldest grant that has not ended, {@code next} when there is none: those with lower ids are over for good. */
    public ObjectId oldest(ObjectId next) {
        return byId.isEmpty() ? next : byId.keySet().iterator().next();
    }

    /** The newest grant of a key, abandoned or past its deadline or not; null when there is none. */
    public Grant ofKey(Key key) {
        return newest.get(key);
    }

    public boolean isBeingPut(Key key, long nowMs) {
        Grant grant = newest.get(key);
        return grant != null && !grant.abandoned && nowMs < grant.deadlineMs;
    }

    /**
     * A client's connection ended: its keys need not wait for deadlines. A client that only lost its connection may still
     * publish, unless a newer grant took the key's place.
     */
    public void abandon(long session) {
        for (Grant grant : byId.values()) {
            if (grant.session == session) {
                grant.abandoned = true;
            }
        }
    }

    public void end(Grant grant) {
        if (byId.remove(grant.id, grant)) {
            newest.remove(grant.key, grant);
            if (grant.isOpen()) {
                lateWrites.expect(grant);
            }
            grant.releaseAll();
            takeBack(grant);
        }
    }

    /** Ends and returns the grants whose deadline has passed by more than the grace. */
    public List<Grant> endOverdue(long nowMs) {
        lateWrites.expire(nowMs);
        List<Grant> overdue = new ArrayList<>();
        while (!byDeadline.isEmpty()) {
            Grant first = byDeadline.peek();
            boolean alive = byId.get(first.id) == first;
            if (alive && nowMs < first.deadlineMs + Bounds.GRANT_GRACE_MS) {
                break;
            }
            byDeadline.remove();
            if (alive) {
                end(first);
                overdue.add(first);
            }
        }
        return overdue;
    }

    public Collection<Grant> all() {
        return byId.values();
    }

    public void clear() {
        for (Grant grant : byId.values()) {
            grant.releaseAll();
            takeBack(grant);
        }
        byId.clear();
        newest.clear();
        byDeadline.clear();
        lateWrites.clear();
    }
}
