// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.ChangeFeed;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.lru.ReusePolicy;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.slab.SplitTable;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.List;

/** What readers find: at most one object of a key, in the order of their use, without those that a purge has covered. */
final class Published {
    private final ObjectRecords objects;
    private final ReplicaRecords replicas;
    private final ObjectTables.ByKey byKey;
    private final ObjectChain recency;
    private final ReusePolicy policy = new ReusePolicy();
    private final ChangeFeed changes = new ChangeFeed();
    private final TenantAccounts accounts = new TenantAccounts();
    private int poolCopies;

    /** Objects up to this one should have no fewer than the pool wants, whatever their puts asked for. */
    private ObjectId raisedUpTo = ObjectId.NONE;

    /** A leader decides how many copies each should have; before, as many are wanted as are there, or the pool asks for. */
    private boolean serving;

    private long unavailable;
    private long shortOfCopies;
    private long overReplicated;
    private long softPinned;

    /** Objects below it are out of sight; they are forgotten little by little. */
    private ObjectId purgeId = ObjectId.NONE;

    private int purged;

    /** @param poolCopies how many copies the pool wants of an object */
    Published(Views views, ObjectTables.ByKey byKey, int poolCopies) {
        this.objects = views.objects();
        this.replicas = views.replicas();
        this.byKey = byKey;
        this.recency = new ObjectChain(views);
        this.poolCopies = poolCopies;
    }

    /** {@link Slabs#NONE} when there is none in sight. */
    int find(Key key) {
        return inSight(byKey.find(key));
    }

    /** The one under the key of another object, {@link Slabs#NONE} when there is none in sight. */
    int findUnderKeyOf(int object) {
        return inSight(byKey.findKeyOf(object));
    }

    /** The one under the key of another object, in sight or purged. */
    int anyUnderKeyOf(int object) {
        return byKey.findKeyOf(object);
    }

    /** Of few among many objects not all may be found: a turn has an end. */
    List<Key> keys(Tenant tenant, int limit) {
        List<Key> keys = new ArrayList<>();
        SplitTable.Walk walk = byKey.walk();
        int looked = 0;
        for (int object = walk.next(); object != Slabs.NONE && keys.size() < limit; object = walk.next()) {
            if (isShown(object, tenant)) {
                keys.add(objects.key(object));
            } else if (++looked == Bounds.KEYS_PASSED_OVER_MAX) {
                break;
            }
        }
        return keys;
    }

    boolean isServing() {
        return serving;
    }

    void setServing(boolean nowServing) {
        if (nowServing && !serving) {
            recency.unite();
        }
        serving = nowServing;
    }

    /** The pool wants so many copies from now on; those up to an id are brought up to it as they are counted again. */
    void wantCopies(int copies, ObjectId upTo) {
        poolCopies = copies;
        raisedUpTo = upTo;
    }

    ChangeFeed changes() {
        return changes;
    }

    /** What each tenant has of them, and of grants. */
    TenantAccounts accounts() {
        return accounts;
    }

    /** Those used least often first. */
    ObjectChain recency() {
        return recency;
    }

    /** An eviction, which what is used meanwhile may slip past. */
    ObjectChain.Walk evict() {
        return recency.evict(policy);
    }

    int count() {
        return byKey.size() - purged;
    }

    /** Those with no replica that counts; the three sums follow {@link Recounts}. */
    long unavailable() {
        return unavailable;
    }

    /** Those with fewer replicas that count than they should have, those with none included. */
    long shortOfCopies() {
        return shortOfCopies;
    }

    /** Those with more replicas that count than they should have. */
    long overReplicated() {
        return overReplicated;
    }

    /** Those that were put with a soft pin, whether it has ended or not. */
    long softPinned() {
        return softPinned;
    }

    /** @param isPut a client puts it; else it was there, if out of sight, and this is no use of it */
    void add(int object, boolean isPut) {
        byKey.add(object);
        softPinned += objects.isSoftPinned(object) ? 1 : 0;
        int uses = !serving ? 0 : isPut ? policy.put(objects.keyHash(object)) : objects.uses(object);
        objects.setUsed(object, uses, policy.now());
        if (hasPurged()) {
            recency.append(object); // behind what is forgotten from the first on
        } else {
            recency.enter(object);
        }
        measure(object);
        count(object, +1);
        book(object, +1, objects.wanted(object));
        if (changes.isOpen()) {
            changes.tell(stored(object));
        }
    }

    /**
     * One of them is used.
     *
     * @param again it is not the same use as the last that counted
     */
    void used(int object, boolean again) {
        if (isPurged(object)) {
            return; // it is out of sight, and is to be forgotten where it stands
        }
        int uses = objects.uses(object);
        objects.setUsed(object, again ? policy.used(objects.keyHash(object), uses) : uses, policy.now());
        if (hasPurged()) {
            recency.remove(object);
            recency.append(object);
        } else {
            recency.touch(object);
        }
    }

    /** No block is used that stands before these in a prompt. */
    void endPrompt() {
        policy.endPrompt();
    }

    /** So many of them lie in memory, which is full: those on SSDs alone are not counted. */
    void setRoom(int inMemory) {
        policy.setRoom(inMemory);
    }

    void remove(int object, Cause cause) {
        if (isTold(object)) {
            changes.tell(new Change.Removed(objects.key(object), objects.id(object), cause));
        }
        if (serving && cause == Cause.EVICTED) {
            policy.evicted(objects.keyHash(object), objects.uses(object));
        }
        byKey.remove(object);
        softPinned -= objects.isSoftPinned(object) ? 1 : 0;
        recency.remove(object);
        purged -= isPurged(object) ? 1 : 0;
        count(object, -1);
        if (objects.isHardPinned(object)) {
            accounts.yieldsNoMore(tenant(object), objects.id(object));
        }
        book(object, -1, -objects.wanted(object));
    }

    /** One of them may have more, or fewer, replicas that count than it had. */
    void recount(int object) {
        int before = objects.wanted(object);
        count(object, -1);
        measure(object);
        count(object, +1);
        bookWanted(object, before);
        unasked(object, 0, objects.wanted(object) - before);
    }

    /** One of them was found, not put. */
    void found(int object) {
        unasked(object, 1, objects.wanted(object));
    }

    /** So many objects, and copies of this one, are there or wanted though no client has asked for them since this master serves. */
    private void unasked(int object, int count, int copies) {
        if (serving && copies > 0) {
            long extent = ExtentSize.of(objects.keyLength(object), objects.payloadLength(object));
            accounts.unasked(tenant(object), count, copies * extent);
        }
    }

    /** One of them should have at least so many copies. */
    void want(int object, int copies) {
        setWanted(object, Math.max(objects.wanted(object), copies));
    }

    /** So many are enough from now on. */
    void wantAtMost(int object, int copies) {
        setWanted(object, Math.min(objects.wanted(object), copies));
    }

    private void setWanted(int object, int copies) {
        int before = objects.wanted(object);
        count(object, -1);
        objects.setWanted(object, copies);
        count(object, +1);
        bookWanted(object, before);
    }

    private Tenant tenant(int object) {
        return objects.isOfTenant(object) ? Tenant.of(objects.key(object)) : Tenant.DEFAULT;
    }

    private void bookWanted(int object, int before) {
        int more = objects.wanted(object) - before;
        if (more != 0) {
            book(object, 0, more);
        }
    }

    /** The tenant has one object more or less, and so many copies. */
    private void book(int object, int change, int copies) {
        long bytes = copies * ExtentSize.of(objects.keyLength(object), objects.payloadLength(object));
        if (objects.isOfTenant(object)) {
            accounts.stored(objects.key(object), change, bytes);
        } else {
            accounts.storedOfDefault(change, bytes);
        }
        if (objects.isHardPinned(object)) {
            accounts.pinned(tenant(object), bytes);
        }
    }

    private void measure(int object) {
        int counted = Math.min(replicas.counted(object), ObjectRecords.COUNTED_MAX);
        objects.setCounted(object, counted);
        if (!serving) {
            // Copies on transient nodes say nothing of what was asked for, and other nodes could not always replace
            // them.
            int lasting = counted > poolCopies ? replicas.lasting(object) : counted;
            objects.setWanted(object, Math.clamp(Math.max(poolCopies, lasting), 1, Bounds.REPLICAS_MAX));
        } else if (objects.wanted(object) < poolCopies && !objects.id(object).isNewerThan(raisedUpTo)) {
            objects.setWanted(object, poolCopies);
        }
    }

    private void count(int object, int change) {
        int counted = objects.counted(object);
        int wanted = objects.wanted(object);
        unavailable += counted == 0 ? change : 0;
        shortOfCopies += counted < wanted ? change : 0;
        overReplicated += counted > wanted ? change : 0;
    }

    /** Somebody hears of what becomes of one of them. */
    private boolean isTold(int object) {
        return changes.isOpen() && !isPurged(object);
    }

    /** A replica of one of them was added. */
    void copied(int object, int replica) {
        if (isTold(object)) {
            changes.tell(new Change.Copied(objects.key(object), objects.id(object), copy(replica)));
        }
    }

    /** A replica of one of them is about to be forgotten. */
    void dropping(int object, int replica) {
        if (isTold(object)) {
            Cause cause = causeOfDropping(object, replica);
            changes.tell(new Change.Dropped(objects.key(object), objects.id(object), copy(replica), cause));
        }
    }

    private Cause causeOfDropping(int object, int replica) {
        boolean inMemory = replicas.isInMemory(replica);
        if (inMemory && replicas.find(object, replicas.node(replica), false) != Slabs.NONE) {
            return Cause.MOVED;
        }
        return replicas.isFreeing(replica) ? Cause.TRIMMED : Cause.LOST;
    }

    /** One of them with all its replicas, as it is now. */
    Change.Stored stored(int object) {
        List<Change.Copy> copies = new ArrayList<>(1);
        for (int replica = replicas.firstOf(object); replica != Slabs.NONE; replica = replicas.nextOf(replica)) {
            copies.add(copy(replica));
        }
        long group = objects.retention(object).group();
        return new Change.Stored(objects.key(object), objects.id(object), objects.payloadLength(object), group, copies);
    }

    private Change.Copy copy(int replica) {
        return new Change.Copy(replicas.node(replica).id, replicas.isInMemory(replica));
    }

    /** Takes all of them out of sight at once; they must be older than {@code id}. */
    void purge(ObjectId id) {
        if (changes.isOpen()) {
            changes.tell(new Change.Purged(id));
        }
        purgeId = id;
        purged = byKey.size();
        recency.unite();
    }

    /** The purge was begun and is not certain: what it covers is shown again, unless somebody settles it. */
    void takePurgeBack() {
        purged = 0;
    }

    boolean hasPurged() {
        return purged > 0;
    }

    boolean isPurged(int object) {
        return purged > 0 && purgeId.isNewerThan(objects.id(object));
    }

    /** Whether one of them is in sight, and of this tenant. */
    boolean isShown(int object, Tenant tenant) {
        return !isPurged(object) && objects.isOf(object, tenant);
    }

    private int inSight(int object) {
        return object == Slabs.NONE || isPurged(object) ? Slabs.NONE : object;
    }
}
