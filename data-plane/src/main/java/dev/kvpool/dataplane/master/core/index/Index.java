// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.base.ChangeFeed;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.slab.KeyHash;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.slab.SplitTable;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts;
import dev.kvpool.dataplane.master.core.tenant.TenantSums;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.random.RandomGenerator;

/**
 * The view of what the nodes hold: objects by id from every node's stream, and by key those that are published, on a standby
 * those that would be. The nodes own the truth; nothing here outlives the process. Objects lie in {@link Slabs}, not in Java objects of their own:
 * about 160 bytes each with a key of 64 bytes, and nothing for the collector to follow.
 */
public final class Index {
    private final Slabs slabs;
    private final ObjectRecords objects;
    private final ReplicaRecords replicas;
    private final ObjectTables tables;
    private final Views views;
    private final Published published;
    private final Fates fates;
    private final Recounts recounts;
    private final Directories directories;
    private boolean serving;
    private long leasedUntilMs = Long.MIN_VALUE;

    /**
     * An empty one.
     *
     * @param poolCopies how many copies the pool wants of an object
     * @param random for the secret of the hash of keys, so that nobody can choose keys that make a table slow
     */
    public Index(int poolCopies, RandomGenerator random) {
        this(poolCopies, random, Slabs.BYTES_NAMED);
    }

    /** @param recordBytesMax what its records may take, if that is less than the {@value Slabs#BYTES_NAMED} bytes it can name */
    public Index(int poolCopies, RandomGenerator random, long recordBytesMax) {
        slabs = new Slabs(recordBytesMax);
        KeyHash keyHash = new KeyHash(random.nextLong(), random.nextLong());
        objects = new ObjectRecords(slabs, keyHash);
        replicas = new ReplicaRecords(slabs, objects);
        tables = new ObjectTables(slabs, objects, keyHash);
        views = new Views(objects, replicas);
        published = new Published(views, tables.byKey, poolCopies);
        fates = new Fates(views, published);
        recounts = new Recounts(replicas, fates);
        directories = new Directories(slabs, views, tables.byId, fates);
    }

    // ---- looking --------------------------------------------------------------------------------------------------

    /** The published object of a key, or null. */
    public StoredObject published(Key key) {
        return views.object(published.find(key));
    }

    /** The published object under the key of another one, or null. */
    public StoredObject publishedUnderKeyOf(StoredObject object) {
        return views.object(published.findUnderKeyOf(object.at()));
    }

    /** The object with this name, whatever its fate, or null. */
    public StoredObject object(StoredObject.Name name) {
        return views.object(tables.byId.find(name));
    }

    /** The object with this id and this qualified key, whatever its fate, or null. */
    public StoredObject object(ObjectId id, Key key) {
        int object = tables.byId.find(id, key);
        return object != Slabs.NONE && objects.hasKey(object, key) ? views.object(object) : null;
    }

    /** A turn begins, in which no object was looked at yet. */
    public void lookingAtNone() {
        views.forgetLatest();
    }

    /** The nodes whose records show the object that was looked at last in this turn; none where there is none, or it cannot be told. */
    public List<NodePeer> holdersOfLatest() {
        List<NodePeer> holders = new ArrayList<>();
        try {
            StoredObject latest = views.latest();
            if (latest != null) {
                for (Replica replica : latest.replicas()) {
                    NodePeer holder = replica.node().peer();
                    if (!holders.contains(holder)) {
                        holders.add(holder);
                    }
                }
            }
        } catch (RuntimeException e) {
            holders.clear(); // asked of a view that may be half changed
        }
        return holders;
    }

    /** Published objects, those used least often first, and last those used last. */
    public ObjectChain recency() {
        return published.recency();
    }

    /** Through published objects, the next to be evicted first; those used meanwhile may slip past. */
    public ObjectChain.Walk evict() {
        return published.evict();
    }

    /** Objects about which nothing is decided. */
    public ObjectChain unsettled() {
        return fates.unsettled();
    }

    /** Objects that were given up and that nodes have not freed yet. */
    public ObjectChain pendingFree() {
        return fates.pendingFree();
    }

    /** The same by key. */
    public Remains remains() {
        return fates.remains();
    }

    /** Every object, whatever its fate, in no order; none may come or go meanwhile. */
    Iterable<StoredObject> all() {
        return () -> views.objects(tables.byId.walk());
    }

    /** Every replica a node holds, in no order; none may come or go meanwhile. */
    public Iterable<Replica> replicasOn(NodeView node) {
        return () -> views.replicas(node.replicas.walk());
    }

    /** The replica in exactly this extent of a node, or null. */
    public Replica replica(NodeView node, ExtentRef extent) {
        int present = node.replicas.at(extent);
        boolean same = present != Slabs.NONE && replicas.generation(present) == extent.generation();
        return same ? views.replica(present) : null;
    }

    /**
     * A client uses an object. Requests that are less than a lease apart, and not long apart, are one use.
     *
     * @param leaseMs the length of a lease
     */
    public void used(StoredObject object, long nowMs, long leaseMs) {
        boolean again = objects.countUse(object.at(), nowMs, Math.min(leaseMs, Bounds.USE_MS_MAX));
        published.used(object.at(), again);
    }

    /** An object stays as if it was used, and has not been. */
    public void touch(StoredObject object) {
        published.used(object.at(), false);
    }

    /** What was put or used since the last call was a prompt, named from its end: what comes belongs to another one. */
    public void endPrompt() {
        published.endPrompt();
    }

    /** The order of eviction adapts to how many objects memory holds. */
    public void setRoom(int objectsInMemory) {
        published.setRoom(objectsInMemory);
    }

    /** Promises readers that an object stays where it is until then. */
    public void lease(StoredObject object, long untilMs) {
        if (untilMs > object.leaseUntilMs()) {
            objects.setLeaseUntilMs(object.at(), untilMs);
        }
        leasedUntilMs = Math.max(leasedUntilMs, untilMs);
    }

    /**
     * Promises the same for all objects of epochs below this one, those that nodes show later included: a leader before may
     * have told readers of them.
     */
    public void leaseRecovered(long belowEpoch, long untilMs) {
        objects.leaseRecovered(belowEpoch, untilMs);
        leasedUntilMs = size() > 0 ? Math.max(leasedUntilMs, untilMs) : leasedUntilMs;
    }

    /** Whether a lease of any object may be running. */
    public boolean isAnythingLeased(long nowMs) {
        return leasedUntilMs > nowMs;
    }

    /** Qualified keys of published objects of a tenant in no order, at most {@code limit} of them. */
    public List<Key> publishedKeys(Tenant tenant, int limit) {
        return published.keys(tenant, limit);
    }

    /** Whether any object, whatever its fate, is of another tenant than {@link Tenant#DEFAULT}. */
    public boolean holdsTenants() {
        return objects.tenants().areAny();
    }

    /** What other tenants than {@link Tenant#DEFAULT} have. */
    public TenantSums tenants() {
        return objects.tenants();
    }

    /** What counts against the quota of each tenant. */
    public TenantAccounts accounts() {
        return published.accounts();
    }

    /** Hears what changes for readers, while it is open. */
    public ChangeFeed changes() {
        return published.changes();
    }

    /**
     * All that readers find, in parts.
     *
     * @param tenant whose objects alone; empty: all
     */
    public Parts publishedParts(Optional<Tenant> tenant) {
        return new Parts(tenant);
    }

    /** What readers find, in parts, between which it may change. */
    public final class Parts {
        private final SplitTable.Tour tour = tables.byKey.tour();
        private final IntPredicate isShown;

        private Parts(Optional<Tenant> tenant) {
            isShown = tenant.<IntPredicate>map(whose -> object -> published.isShown(object, whose))
                    .orElse(object -> !published.isPurged(object));
        }

        /**
         * Of the next about so many objects those that are shown, as they are now; nothing is built for others. One that is published
         * all the time is in one part, or in several.
         */
        public List<Change.Stored> next(int objects) {
            return next(objects, published::stored);
        }

        /** The same of about so many objects, to be used in this turn; they may be removed. */
        public List<StoredObject> nextObjects(int objects) {
            return next(objects, views::object);
        }

        /** Goes on past at most so many places of the table that are empty; how many there were. */
        public int skipEmpty(int most) {
            return tour.skipEmpty(most);
        }

        private <T> List<T> next(int objects, IntFunction<T> view) {
            List<T> part = new ArrayList<>();
            tour.goOn(objects, object -> {
                if (isShown.test(object)) {
                    part.add(view.apply(object));
                }
            });
            return part;
        }

        public boolean isDone() {
            return tour.isDone();
        }

        /** To be called when not all parts were taken: until then the table of keys cannot shrink. */
        public void end() {
            tour.end();
        }
    }

    public int size() {
        return tables.byId.size();
    }

    public int publishedCount() {
        return published.count();
    }

    /** The highest epoch that any object was ever of. */
    public long highestEpoch() {
        return directories.highestEpoch();
    }

    /** Published objects with no replica that counts; see {@link #serve}. */
    public long unavailableCount() {
        return published.unavailable();
    }

    /** Published objects with fewer replicas that count than they should have, those with none included. */
    public long shortOfCopies() {
        return published.shortOfCopies();
    }

    /** Published objects that were put with a soft pin, whether it has ended or not. */
    public long softPinned() {
        return published.softPinned();
    }

    /** Published objects with more replicas that count than they should have. */
    public long overReplicated() {
        return published.overReplicated();
    }

    /** Memory that records and the tables of objects take; without the tables of each node. */
    long bytes() {
        return slabs.bytes() + tables.byId.bytes() + tables.byKey.bytes();
    }

    /** Bytes that records take. */
    long recordBytes() {
        return slabs.liveBytes();
    }

    /** The same with the room that was freed between them and is of use for records of the same size only. */
    long recordPageBytes() {
        return slabs.bytes();
    }

    long recordBytesMax() {
        return slabs.bytesMax();
    }

    /** Whether there is room for a record of any size. */
    boolean hasRoomForAny() {
        return slabs.hasFreePage();
    }

    /** Whether a new object with such a key has room among those that are there. */
    boolean hasPlaceForObject(int keyLength) {
        return slabs.hasRoomInPage(ObjectRecords.bytesOf(keyLength, false));
    }

    // ---- what nodes say -------------------------------------------------------------------------------------------

    /** Whether every field of a line fits; a node whose lines do not is no node of this protocol. */
    static boolean canHold(DirectoryRecord line) {
        return ObjectRecords.canHold(line) && ReplicaRecords.canHold(line);
    }

    /** Whether there is room for what a line says; see {@link Directories#hasRoomFor}. */
    boolean hasRoomFor(NodeView node, DirectoryRecord line, boolean takesMore) {
        return directories.hasRoomFor(node, line, takesMore);
    }

    /** A node begins to send its directory: what it does not name until the end of it is gone. */
    public void beginSnapshot(NodeView node) {
        node.snapshot++;
        node.replicas.beginSnapshot();
        node.shown = true;
        follow(node);
    }

    /** A node's connection ended: it neither serves readers nor counts. */
    public void disconnected(NodeView node) {
        node.shown = false;
        setUsable(node, false);
    }

    /**
     * A node says that an extent holds an object; see {@link Directories#commit}.
     *
     * @param line one that {@link #canHold} and {@link #hasRoomFor} hold of
     * @return the object, or null when the line was out of date or already known
     */
    public StoredObject commit(NodeView node, DirectoryRecord line) {
        return views.object(directories.commit(node, line));
    }

    /** Whether this slot is known, from the same snapshot, to hold an object of a higher generation. */
    boolean outdates(NodeView node, ExtentRef extent) {
        return directories.outdates(node, extent);
    }

    /** A node says that it freed an extent. */
    void freed(NodeView node, ExtentRef extent) {
        directories.freed(node, extent);
    }

    /**
     * Forgets of what the node's latest snapshot did not hold as much as is found by looking at about so many replicas.
     *
     * @return how many of those were replicas of published objects: what the node has lost, and was not told to free
     */
    long dropUnconfirmed(NodeView node, int visits) {
        return directories.dropUnconfirmed(node, visits);
    }

    /** From now on this hears of each key that was readable here, while this master served, and that no node has any more. */
    public void whenLost(Consumer<Key> heard) {
        fates.whenLost(heard);
    }

    /** From now on this runs whenever what engines have shown gives way to what a storage node shows of the same id, and is to be freed. */
    public void whenDisplaced(Runnable heard) {
        directories.whenDisplaced(heard);
    }

    /**
     * Forgets so many of a node's replicas.
     *
     * @return whether it has none any more, and is forgotten as well
     */
    public boolean drop(NodeView node, int visits) {
        // Until then what is left of it is counted on: the node may come back meanwhile, without counting.
        if (node.replicas.count() <= visits) {
            recounts.end(node);
        }
        return directories.drop(node, visits);
    }

    // ---- what the leader decides ----------------------------------------------------------------------------------

    /** Whether readers may be sent to a node and writers' grants may name it. */
    public void setUsable(NodeView node, boolean usable) {
        if (changes().isOpen() && node.usable != usable) {
            changes().tell(new Change.Node(node.id, usable, node.holdsOnlyOf()));
        }
        node.usable = usable;
        follow(node);
    }

    /**
     * Whether this master serves. While it does, replicas on usable nodes count, and as many are wanted as the leader says.
     * Before, those on connected nodes count, and as many are wanted as there are, so that a takeover finds the sums done.
     *
     * @param all the nodes that are known
     */
    public void serve(boolean nowServing, Collection<NodeView> all) {
        serving = nowServing;
        published.setServing(nowServing);
        all.forEach(this::follow);
    }

    /**
     * The pool wants another number of copies of an object. On a master that serves, objects up to an id are brought up to it, little by
     * little; on another one the sums are made anew.
     *
     * @param all the nodes that are known
     */
    public void wantCopies(int copies, ObjectId upTo, Collection<NodeView> all) {
        published.wantCopies(copies, upTo);
        all.forEach(recounts::begin);
    }

    private void follow(NodeView node) {
        boolean counts = serving ? node.usable : node.shown;
        if (counts != node.counted) {
            node.counted = counts;
            recounts.begin(node);
            recounts.goOn(Bounds.RECOUNTED_PER_TICK);
        }
    }

    /** Brings the sums nearer to what counts, by so many replicas. */
    public void recount(int visits) {
        recounts.goOn(visits);
    }

    /** Whether the sums are exact. */
    boolean isCounted() {
        return recounts.isDone();
    }

    /** The node was, or is about to be, told to free a replica: its bytes count as gone for eviction and placement. */
    public void freeing(Replica replica) {
        replica.node().replicas.freeing(replica.at());
    }

    /** The node has not freed the replica, or cannot be asked any more. */
    public void noLongerFreeing(Replica replica) {
        replica.node().replicas.noLongerFreeing(replica.at());
    }

    /**
     * A node is told to copy an object. Until the outcome is known the object stays, unavailable should all other replicas be
     * lost meanwhile: the node says how it ended, or has shown its whole directory anew, or is forgotten, or the term ends.
     */
    public void copying(StoredObject object, NodeView target) {
        directories.copying(object.at(), target);
    }

    /** A node has said what became of such a copy. */
    public void copied(StoredObject.Name name, NodeView target) {
        StoredObject object = object(name);
        if (object != null) {
            directories.copied(object.at(), target);
        }
    }

    /** Nobody waits any more for copies that have not been shown. */
    public void forgetCopies() {
        directories.forgetCopies();
    }

    /**
     * Makes an object that a client puts readable under its key, which must have no published object; {@code wanted} copies it should
     * have.
     */
    public void publish(StoredObject object, int wanted) {
        fates.publish(object.at(), wanted, true);
    }

    /** The same of an object that a node has shown, or that was published and given up, and that no client puts now. */
    public void publishFound(StoredObject object, int wanted) {
        fates.publish(object.at(), wanted, false);
        published.found(object.at());
    }

    /** A published object should have at least so many copies from now on. */
    public void want(StoredObject object, int copies) {
        published.want(object.at(), copies);
    }

    /** Fewer copies than it has are enough, until another leader finds what there is. */
    public void wantAtMost(StoredObject object, int copies) {
        published.wantAtMost(object.at(), copies);
    }

    /** Takes an object out of sight without deciding about it. */
    public void unsettle(StoredObject object) {
        fates.unpublish(object.at());
    }

    /** The same of one that has a newer one of its key beside it: a removal or replacement of that one sees to this one, too. */
    public void outdo(StoredObject object) {
        fates.outdo(object.at());
    }

    /** Takes an object out of sight for good; {@code cause} is why readers do not find it any more, if they did. */
    public void doom(StoredObject object, Change.Cause cause) {
        fates.doom(object.at(), cause);
    }

    /** Takes every published object out of sight at once; all of them must be older than {@code id}. */
    public void purge(ObjectId id) {
        published.purge(id);
    }

    /** Shows again what a purge has hidden that may not outlive this leader. */
    public void takePurgeBack() {
        published.takePurgeBack();
    }

    /** Dooms objects that are out of sight by a purge, at most {@code limit} of them; their nodes free them unasked. */
    public void forgetPurged(int limit) {
        fates.forgetPurged(limit);
    }

    /** A new leadership decides anew about what was given up; {@link #goOnReconsidering} makes that so. */
    public void reconsider() {
        fates.reconsider();
    }

    /** Brings so many objects that were given up back among those that are unsettled; answers whether that were all. */
    public boolean goOnReconsidering(int visits) {
        return fates.goOnReconsidering(visits);
    }
}
