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
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Keeps tenants at or below their ceilings: a tenant that would be above it loses its own least recently leased objects, before its next
 * put is granted, or when its ceiling was lowered. Leased, pinned and retained objects stay, as with {@link Evictor}.
 *
 * <p>Objects of all tenants stand in one order, so a tenant's next one is sought among those of others. Each tenant has a walk of its
 * own, which goes on where it stopped: a full turn through the pool for all that the tenant may lose. Between two ticks walks together
 * look at a bounded number of objects, each at the same part of it, so that a tenant whose objects may not go costs another none of its
 * own; what some leave unused goes to those who wait. Who was told to ask again need not, for the search to go on.
 */
public final class QuotaEvictor {
    /** What becomes of a put. */
    public enum Answer {
        GRANTED,
        /** Asking again soon may help: puts are under way, the search is not over, or what may go is being written down. */
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

        /** All that the last turn came by was such: what there is no room to write down goes without. */
        private boolean lastResort;

        /** How much may still be done before the next tick, counted in objects looked at; below 0 what was done beyond. */
        private int left;

        /** Room for this much is still sought, though no put asks for it now. */
        private boolean waits;

        private long wantedObjects;
        private long wantedBytes;

        private long restMs;
        private long restsUntilMs = Long.MIN_VALUE;
        private long usedMs;

        /** The same where no put asks: what is pinned or leased for long is not looked for again and again. */
        private long unaskedRestMs;

        private long unaskedFromMs = Long.MIN_VALUE;

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

        private void await(long objects, long bytes) {
            wantedObjects = waits ? Math.max(wantedObjects, objects) : objects;
            wantedBytes = waits ? Math.max(wantedBytes, bytes) : bytes;
            waits = true;
        }

        /** Nothing may go now that would have to go by itself, above a ceiling. */
        private void restUnasked(long nowMs) {
            unaskedRestMs = Math.clamp(2 * unaskedRestMs, Bounds.QUOTA_REST_MS_MAX, Bounds.QUOTA_UNASKED_REST_MS_MAX);
            unaskedFromMs = nowMs + unaskedRestMs;
        }

        private boolean goesOn(long nowMs) {
            return waits && nowMs >= restsUntilMs;
        }

        /** Leases end, so the next turn may find something; but the more turns did not, the later it comes. */
        private void rest(long nowMs) {
            long leastMs = waits && !comes ? Bounds.QUOTA_ANSWER_MS : Bounds.EVICTION_PAUSE_MS;
            restMs = comes ? leastMs : Math.clamp(2 * restMs, leastMs, Bounds.QUOTA_REST_MS_MAX);
            restsUntilMs = nowMs + restMs;
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

    /** Of tenants that have a ceiling: at most {@link Quotas#TENANTS_MAX}. */
    private final Map<Tenant, Search> searches = new LinkedHashMap<>();

    /** What a tenant may have beyond its ceilings for now. */
    private record Excess(long objects, long bytes) {
        private static final Excess NONE = new Excess(0, 0);

        private boolean isAny() {
            return objects > 0 || bytes > 0;
        }

        private Excess atMost(Excess other) {
            return new Excess(
                    Math.clamp(objects, 0, Math.max(0, other.objects)), Math.clamp(bytes, 0, Math.max(0, other.bytes)));
        }
    }

    /**
     * Of tenants that have more than their ceilings without having put it: the takeover, or the pool, wants copies that no put asked for,
     * or a node has come back with their objects.
     */
    private final Map<String, Excess> raised = new HashMap<>();

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
        tolerate(tenant.name());
        return switch (admission(tenant, 1, bytes)) {
            case FITS -> granted(tenant, bytes);
            case AFTER_EVICTION -> seek(tenant, bytes, nowMs);
            case AFTER_PUTS -> Answer.LATER;
            case NEVER -> Answer.EXCEEDED;
        };
    }

    /**
     * This master serves from now on. It takes every object to be wanted with the copies of the pool, though its put may have asked for
     * fewer. A tenant that this takes above its ceiling loses nothing at once: it comes down by its puts.
     */
    public void serving() {
        rules.quotas().byTenant().forEach((name, quota) -> {
            accounts.takeUnasked(name); // is known from what there is now
            long bytes = accounts.of(name).bytes();
            long above = Math.min(bytes - quota.ceilingBytes(), bytes - bytes / rules.replicas());
            if (above > 0) {
                raised.put(name, new Excess(0, above));
            }
        });
    }

    /** What has come to a tenant since without a put is not taken from it at once either: it comes down by its puts. */
    private void tolerate(String name) {
        TenantAccounts.Unasked more = accounts.takeUnasked(name);
        if (more.objects() > 0 || more.bytes() > 0) {
            Excess had = raised.getOrDefault(name, Excess.NONE);
            raise(name, new Excess(had.objects + more.objects(), had.bytes + more.bytes()).atMost(above(name, 0, 0)));
        }
    }

    /** What a tenant has above its ceilings, with so much more. */
    private Excess above(String name, long objects, long bytes) {
        Quota quota = rules.quotas().of(name);
        TenantAccounts.Balance has = accounts.of(name);
        return new Excess(
                has.allObjects() + objects - quota.ceilingObjects(), has.allBytes() + bytes - quota.ceilingBytes());
    }

    private void raise(String name, Excess excess) {
        if (excess.isAny()) {
            raised.put(name, excess);
        } else {
            raised.remove(name);
        }
    }

    private Answer granted(Tenant tenant, long bytes) {
        Excess had = raised.get(tenant.name());
        if (had != null) {
            raise(tenant.name(), had.atMost(above(tenant.name(), 1, bytes)));
        }
        return Answer.GRANTED;
    }

    private Answer seek(Tenant tenant, long bytes, long nowMs) {
        Search search = search(tenant, nowMs);
        search.usedMs = nowMs;
        Answer answer = seek(tenant, search, 1, bytes, nowMs);
        if (answer == Answer.LATER) {
            search.await(1, bytes);
        }
        return answer == Answer.GRANTED ? granted(tenant, bytes) : answer;
    }

    private Admission admission(Tenant tenant, long objects, long bytes) {
        String name = tenant.name();
        Excess beyond = raised.getOrDefault(name, Excess.NONE);
        // Less what is wanted, so a put evicts for two.
        Quota quota = rules.quotas()
                .of(name)
                .raisedBy(Math.max(0, beyond.objects - objects), Math.max(0, beyond.bytes - bytes));
        return Admission.of(quota, accounts.of(name), objects, bytes);
    }

    private Answer seek(Tenant tenant, Search search, long objects, long bytes, long nowMs) {
        if (nowMs < search.restsUntilMs) {
            return search.comes ? Answer.LATER : Answer.EXCEEDED;
        }
        if (search.left <= 0) {
            return Answer.LATER;
        }
        predecessors.look();
        Eviction judge = Eviction.ofNothing(rules.eviction(), retained);
        while (admission(tenant, objects, bytes) == Admission.AFTER_EVICTION) {
            if (search.left <= 0) {
                return Answer.LATER;
            }
            if (search.walk == null) {
                search.begin(Round.UNPINNED, index.evict());
            }
            search.left--;
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

    private Search search(Tenant tenant, long nowMs) {
        Search known = searches.get(tenant);
        if (known != null) {
            return known;
        }
        Search search = new Search();
        searches.put(tenant, search);
        search.left = share();
        search.usedMs = nowMs;
        return search;
    }

    /** What each search may do between two ticks. */
    private int share() {
        return Bounds.EVICTION_VISITS / Math.max(1, searches.size());
    }

    /** A walk has come to its end; false when there is nothing to be had by another one now. */
    private boolean turn(Search search, long nowMs) {
        search.end();
        if (search.found) {
            search.lastResort = false;
            return true; // what it began behind may go by now
        }
        if (search.round == Round.UNPINNED && rules.eviction().evictSoftPinned()) {
            search.begin(Round.SOFTLY_PINNED, index.evict());
            return true;
        }
        search.lastResort = search.comes;
        search.rest(nowMs);
        return false;
    }

    private void visit(StoredObject object, Tenant tenant, Search search, Eviction judge, long nowMs) {
        if (!object.isOf(tenant) || groups.refresh(object) || !judge.mayTake(object, search.round, nowMs)) {
            return;
        }
        if (!predecessors.mayBeLeft(object, search.lastResort, nowMs)) {
            search.comes = true;
            return;
        }
        for (StoredObject other : groups.others(object)) {
            if (judge.mayTake(other, search.round, nowMs) && predecessors.mayBeLeft(other, search.lastResort, nowMs)) {
                evict(other, search, nowMs);
            }
        }
        evict(object, search, nowMs);
        search.found = true;
        search.restMs = 0;
        search.unaskedRestMs = 0;
    }

    private void evict(StoredObject victim, Search search, long nowMs) {
        search.left -= Bounds.EVICTED_IS_VISITS;
        evictions.evict(victim, nowMs);
    }

    /** Who is above a ceiling that was lowered, or that a former leader did not know, comes down to it, or to what the takeover raised it to. */
    public void tick(long nowMs) {
        if (!rules.quotas().limit() || !leadership.serves(nowMs)) {
            return;
        }
        for (String name : rules.quotas().byTenant().keySet()) {
            Tenant tenant = Tenant.of(name);
            tolerate(name);
            if (admission(tenant, 0, 0) == Admission.AFTER_EVICTION) {
                Search search = search(tenant, nowMs);
                if (nowMs >= search.unaskedFromMs) {
                    search.await(0, 0);
                }
            }
        }
        searches.values().removeIf(search -> endIdle(search, nowMs));
        share(nowMs);
        searches.forEach((tenant, search) -> {
            if (search.goesOn(nowMs)) {
                Answer answer = seek(tenant, search, search.wantedObjects, search.wantedBytes, nowMs);
                search.waits = answer == Answer.LATER;
                if (answer == Answer.EXCEEDED) {
                    search.restUnasked(nowMs);
                }
            }
        });
    }

    private void share(long nowMs) {
        long unused = 0;
        int waiting = 0;
        for (Search search : searches.values()) {
            unused += Math.max(0, search.left);
            waiting += search.goesOn(nowMs) ? 1 : 0;
        }
        int more = (int) Math.min(unused, Bounds.EVICTION_VISITS) / Math.max(1, waiting);
        for (Search search : searches.values()) {
            search.left = Math.min(0, search.left) + share() + (search.goesOn(nowMs) ? more : 0);
        }
    }

    private static boolean endIdle(Search search, long nowMs) {
        boolean idle =
                !search.waits && nowMs - search.usedMs > Bounds.QUOTA_SEARCH_IDLE_MS && nowMs >= search.unaskedFromMs;
        if (idle) {
            search.end();
        }
        return idle;
    }

    public void endTerm() {
        beginAnew();
        raised.clear();
    }

    /** What was given up under other rules may be found now. */
    public void beginAnew() {
        // What has come to a tenant before it had this ceiling is no reason to stay above it.
        rules.quotas().byTenant().keySet().forEach(accounts::takeUnasked);
        searches.values().forEach(Search::end);
        searches.clear();
    }
}
