// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * One object as the streams of the nodes show it: a view into the memory of the {@link Index}. Good for the turn it was asked
 * for in: whoever comes back to an object later keeps its id and asks the index again. Two of them are compared with equals,
 * never with ==.
 */
public final class StoredObject {
    /** What the leader has decided about an object. */
    public enum Fate {
        /** Seen in a node's stream; a standby decides nothing, a leader waits for the publish. */
        UNSETTLED,
        /** Readable under its key. */
        PUBLISHED,
        /** Evicted, removed, superseded or never published: every extent of it is freed as soon as its node can be told. */
        PENDING_FREE
    }

    /**
     * What tells an object from all others, and is good for longer than a turn. Leaders give each id once, but engines are not believed
     * about that: one that shows an id can show it under keys of its tenant alone.
     */
    public record Name(ObjectId id, Tenant tenant) {}

    private final Views views;
    private final ObjectRecords objects;
    private final ReplicaRecords replicas;
    private final int at;

    StoredObject(Views views, int at) {
        this.views = views;
        this.objects = views.objects();
        this.replicas = views.replicas();
        this.at = at;
    }

    /** Where it lies in the memory of the index. */
    int at() {
        assert objects.isLive(at) : "an object that has left the index";
        return at;
    }

    public ObjectId id() {
        return objects.id(at());
    }

    public Name name() {
        return new Name(id(), tenant());
    }

    /** A copy of the key; {@link #hasKey} needs none. */
    public Key key() {
        return objects.key(at());
    }

    /** Whose it is. */
    public Tenant tenant() {
        return objects.isOfTenant(at()) ? Tenant.of(key()) : Tenant.DEFAULT;
    }

    /** Whether it is this tenant's. */
    public boolean isOf(Tenant tenant) {
        return objects.isOfTenant(at()) ? tenant.owns(key()) : tenant.isDefault();
    }

    /** What it counts against its tenant's quota: an extent for each copy that it should have. */
    public long countedBytes() {
        return wanted() * ExtentSize.of(objects.keyLength(at()), payloadLength());
    }

    public boolean hasKey(Key key) {
        return objects.hasKey(at(), key);
    }

    public long payloadLength() {
        return objects.payloadLength(at());
    }

    public int payloadCrc() {
        return objects.payloadCrc(at());
    }

    /** What keeps it from being evicted, as its put said. */
    public Retention retention() {
        return objects.retention(at());
    }

    public Fate fate() {
        return objects.fate(at());
    }

    /** It is pending free, and readers of this leader found it before. */
    public boolean isWithdrawn() {
        return fate() == Fate.PENDING_FREE && objects.isWithdrawn(at());
    }

    /** It contradicts another one that has its id: by that the other is found. */
    public boolean isUnlisted() {
        return objects.isUnlisted(at());
    }

    /** The extents that hold it, on usable nodes and others; must not change while it is walked. */
    public Iterable<Replica> replicas() {
        return Extents::new;
    }

    public int replicaCount() {
        int count = 0;
        for (int replica = replicas.firstOf(at()); replica != Slabs.NONE; replica = replicas.nextOf(replica)) {
            count++;
        }
        return count;
    }

    /** On how many usable nodes it lies. */
    public int usableCopies() {
        int copies = 0;
        for (Replica replica : replicas()) {
            copies += replica.node().usable && !replica.isSecond() ? 1 : 0;
        }
        return copies;
    }

    /** The replica in the memory of a node, null when there is none. */
    public Replica inMemoryOf(NodeView node) {
        return find(node, true);
    }

    /** The same on its SSD. */
    public Replica onSsdOf(NodeView node) {
        return find(node, false);
    }

    private Replica find(NodeView node, boolean inMemory) {
        int found = replicas.find(at(), node, inMemory);
        return found == Slabs.NONE ? null : views.replica(found);
    }

    /** How many of its replicas lie on usable nodes. */
    public int usableReplicas() {
        return replicas.usable(at());
    }

    /** How many copies it should have; 1 until it is published. */
    public int wanted() {
        return objects.wanted(at());
    }

    public boolean isAvailable() {
        return replicas.isAvailable(at());
    }

    public boolean isOn(NodeView node) {
        return replicas.countOn(at(), node) > 0;
    }

    /** Whether the node of each replica was told to free it. */
    public boolean isBeingFreed() {
        for (Replica replica : replicas()) {
            if (!replica.isFreeing()) {
                return false;
            }
        }
        return true;
    }

    /** When the last lease ends; {@link Long#MIN_VALUE} when there never was one. */
    public long leaseUntilMs() {
        return objects.leaseUntilMs(at());
    }

    public boolean isLeased(long nowMs) {
        return leaseUntilMs() > nowMs;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof StoredObject object && object.at == at && object.objects == objects;
    }

    @Override
    public int hashCode() {
        return at;
    }

    private final class Extents implements Iterator<Replica> {
        private int next = replicas.firstOf(at());

        @Override
        public boolean hasNext() {
            return next != Slabs.NONE;
        }

        @Override
        public Replica next() {
            if (next == Slabs.NONE) {
                throw new NoSuchElementException();
            }
            Replica replica = views.replica(next);
            next = replicas.nextOf(next);
            return replica;
        }
    }
}
