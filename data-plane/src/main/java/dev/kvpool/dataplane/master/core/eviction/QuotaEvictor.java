// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.eviction.Eviction.Round;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.ObjectChain;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Groups;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.removal.Predecessors;
import dev.kvpool.dataplane.master.core.tenant.Admission;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Keeps tenants at or below their ceilings: a tenant that would be above it loses its own least recently leased objects, before its next
 * put is granted, or when its ceiling was lowered. Leased, pinned and retained objects stay, as with {@link Evictor}.
 *
 * <p>Objects of all tenants stand in one order, so a tenant's next one is sought among those of others. Each tenant has a walk of its
 * own, which goes on where it stopped: a full turn through the pool for all that the tenant may lose. Walks together look at a
 * bounded number of objects between two ticks.
 */
public final class QuotaEvictor {
    /** What becomes of a put. */
    public enum Answer {
        GRANTED,
        /** Asking again soon may help: the search is not over, or what may go is being written down. */
        LATER,
        /** Nothing of the tenant's may go. */
        EXCEEDED
    }

    private static final class Search {
        private ObjectChain.Walk walk;
        private Round round = Round.UNPINNED;

        /** The walk has evicted something. */
        private boolean found;

        /** The walk came by something that may go as soon as that is written down. */
        private boolean comes;

        private long restsUntilMs = Long.MIN_VALUE;
        private long usedMs;

        private void begin(Round what, ObjectChain.Walk from) {
            round = what;
            found = false;
            comes = what != Round.UNPINNED && comes;
            walk = from;
        }

        private void end() {
            if (walk != null) {
                walk.end();
                walk = null;
            }
        }
    }

    private final CurrentRules rules;
    private final Leadership leadership;
    private final Index index;
    private final Groups groups;
    private final TenantAccounts accounts;
    private final Predecessors predecessors;
    private final RetainedObjects retained;
    private final Evictions evictions;

    /** The one that was used longest ago first. */
    private final Map<Tenant, Search> searches = new LinkedHashMap<>(Bounds.QUOTA_SEARCHES_MAX, 0.75f, true);

    /** How much may still be done before the next tick, counted in objects looked at. */
    private int left = Bounds.EVICTION_VISITS;

    public QuotaEvictor(
            CurrentRules rules,
            Leadership leadership,
            View view,
            Predecessors predecessors,
            RetainedObjects retained,
            Evictions evictions) {
        this.rules = rules;
        this.leadership = leadership;
        this.index = view.index();
        this.groups = view.groups();
        this.accounts = view.index().accounts();
        this.predecessors = predecessors;
        this.retained = retained;
        this.evictions = evictions;
    }

    /** A tenant wants to put an object of so many bytes, all copies together: makes room below its ceilings. */
    public Answer makeRoom(Tenant tenant, long bytes, long nowMs) {
        return makeRoom(tenant, 1, bytes, nowMs);
    }

    private Answer makeRoom(Tenant tenant, long objects, long bytes, long nowMs) {
        Quota quota = rules.quotas().of(tenant.name());
        Admission admission = Admission.of(quota, accounts.of(tenant.name()), objects, bytes);
        if (admission != Admission.AFTER_EVICTION) {
            return admission == Admission.FITS ? Answer.GRANTED : Answer.EXCEEDED;
        }
        Search search = search(tenant);
        search.usedMs = nowMs;
        if (nowMs < search.restsUntilMs) {
            return search.comes ? Answer.LATER : Answer.EXCEEDED;
        }
        predecessors.look();
        Eviction judge = Eviction.ofNothing(rules.eviction(), retained);
        while (Admission.of(quota, accounts.of(tenant.name()), objects, bytes) == Admission.AFTER_EVICTION) {
            if (left <= 0) {
                return Answer.LATER;
            }
            if (search.walk == null) {
                search.begin(Round.UNPINNED, index.recency().evictFromFirst());
            }
            left--;
            StoredObject object = search.walk.next();
            if (object != null) {
                visit(object, tenant, search, judge, nowMs);
            } else if (!turn(search, nowMs)) {
                return search.comes ? Answer.LATER : Answer.EXCEEDED;
            }
        }
        if (search.round != Round.UNPINNED) {
            search.end(); // what has no pin goes first again
        }
        return Answer.GRANTED;
    }

    private Search search(Tenant tenant) {
        Search known = searches.get(tenant);
        if (known != null) {
            return known;
        }
        if (searches.size() >= Bounds.QUOTA_SEARCHES_MAX) {
            Iterator<Search> eldest = searches.values().iterator();
            eldest.next().end();
            eldest.remove();
        }
        Search search = new Search();
        searches.put(tenant, search);
        return search;
    }

    /** A walk has come to its end; false when there is nothing to be had by another one now. */
    private boolean turn(Search search, long nowMs) {
        search.end();
        if (search.found) {
            return true; // what it began behind may go by now
        }
        if (search.round == Round.UNPINNED && rules.eviction().evictSoftPinned()) {
            search.begin(Round.SOFTLY_PINNED, index.recency().evictFromFirst());
            return true;
        }
        search.restsUntilMs = nowMs + Bounds.EVICTION_PAUSE_MS;
        return false;
    }

    private void visit(StoredObject object, Tenant tenant, Search search, Eviction judge, long nowMs) {
        if (!object.isOf(tenant) || groups.refresh(object) || !judge.mayTake(object, search.round, nowMs)) {
            return;
        }
        if (!predecessors.mayBeLeft(object, nowMs)) {
            search.comes = true;
            return;
        }
        for (StoredObject other : groups.others(object)) {
            if (judge.mayTake(other, search.round, nowMs) && predecessors.mayBeLeft(other, nowMs)) {
                evict(other, nowMs);
            }
        }
        evict(object, nowMs);
        search.found = true;
    }

    private void evict(StoredObject victim, long nowMs) {
        left -= Bounds.EVICTED_IS_VISITS;
        evictions.evict(victim, nowMs);
    }

    /** Who is above a ceiling that was lowered, or that a former leader did not know, comes down to it. */
    public void tick(long nowMs) {
        left = Bounds.EVICTION_VISITS;
        searches.values().removeIf(search -> endIdle(search, nowMs));
        if (rules.quotas().limit() && leadership.serves(nowMs)) {
            rules.quotas().byTenant().forEach((name, quota) -> {
                if (quota.isLimited()) {
                    makeRoom(Tenant.of(name), 0, 0, nowMs);
                }
            });
        }
    }

    private static boolean endIdle(Search search, long nowMs) {
        boolean idle = nowMs - search.usedMs > Bounds.QUOTA_SEARCH_IDLE_MS;
        if (idle) {
            search.end();
        }
        return idle;
    }

    /** What was given up under other rules may be found now. */
    public void beginAnew() {
        searches.values().forEach(Search::end);
        searches.clear();
    }
}
