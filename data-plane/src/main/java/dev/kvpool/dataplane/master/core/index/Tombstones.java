// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The view of the tombstones in the nodes' directories: up to which id the objects of a key are removed, wherever they may
 * turn up. Like {@link Index} it is a view and owns nothing.
 */
public final class Tombstones {
    /** One tombstone in the directory of one node. */
    public static final class Marker {
        final OfKey tombstone;
        public final NodeView node;
        public final ExtentRef extent;
        public final ObjectId id;
        private final long extentBytes;
        private int snapshot;

        /** The node was told to free it. */
        boolean lifting;

        private Marker(OfKey tombstone, NodeView node, DirectoryRecord line) {
            this.tombstone = tombstone;
            this.node = node;
            this.extent = line.extent();
            this.id = line.objectId();
            this.extentBytes = line.extentBytes();
            this.snapshot = node.snapshot;
        }

        public boolean lifting() {
            return lifting;
        }

        public void lifts(boolean nowLifting) {
            lifting = nowLifting;
        }

        private boolean is(DirectoryRecord line) {
            return extent.equals(line.extent()) && id.equals(line.objectId()) && tombstone.key.equals(line.key());
        }
    }

    /** What all tombstones of one key say together. */
    public static final class OfKey {
        public final Key key;
        private final List<Marker> markers = new ArrayList<>(2);
        private ObjectId upTo = ObjectId.NONE;

        /** What a node has lost with its memory, or for good, while this master leads: it has to be kept elsewhere. */
        private ObjectId lost = ObjectId.NONE;

        /** Nodes, by id, that were asked for a tombstone and have not answered. */
        public final Set<String> asked = new HashSet<>(2);

        /** The term in which the leader asked for all that. */
        private long term;

        private OfKey(Key key) {
            this.key = key;
        }

        /** Objects of the key with this id or a lower one are dead. */
        public ObjectId upTo() {
            return upTo;
        }

        public List<Marker> markers() {
            return markers;
        }

        boolean isEmpty() {
            return markers.isEmpty() && lost.equals(ObjectId.NONE);
        }

        /** Whether a node's own directory says all there is to say. */
        public boolean isOn(NodeView node) {
            for (Marker marker : markers) {
                if (marker.node == node && marker.id.equals(upTo)) {
                    return true;
                }
            }
            return false;
        }

        private void forgetRequests() {
            asked.clear();
            markers.forEach(marker -> marker.lifting = false);
        }

        private void measure() {
            upTo = lost;
            for (Marker marker : markers) {
                upTo = marker.id.isNewerThan(upTo) ? marker.id : upTo;
            }
        }
    }

    private final Map<Key, OfKey> byKey = new HashMap<>();

    /** By node and place; those that a node's latest snapshot has not confirmed stand before all others. */
    private final Map<String, SequencedMap<Long, Marker>> byPlace = new TreeMap<>();

    /** Every key once, and those that have been emptied meanwhile. */
    private final Deque<OfKey> round = new ArrayDeque<>();

    /** Those of which some node has lost its own. */
    private final Set<OfKey> lost = new LinkedHashSet<>();

    private boolean keepsLost;
    private long changes;
    private long term;

    /** Keys with a tombstone. */
    public int size() {
        return byKey.size();
    }

    /** Grows whenever a node shows one it did not show before. */
    public long changes() {
        return changes;
    }

    /** What is known about a key, or null. */
    public OfKey ofKey(Key key) {
        return byKey.get(key);
    }

    public Collection<OfKey> all() {
        return byKey.values();
    }

    public boolean isDead(Key key, ObjectId id) {
        OfKey tombstone = byKey.get(key);
        return tombstone != null && !id.isNewerThan(tombstone.upTo);
    }

    /** The next key of an endless round over all of them, or null when there is none. */
    public OfKey next() {
        while (!round.isEmpty()) {
            OfKey tombstone = round.remove();
            if (byKey.get(tombstone.key) == tombstone) {
                round.add(tombstone);
                inThisTerm(tombstone);
                return tombstone;
            }
        }
        return null;
    }

    /**
     * A node says that an extent holds a tombstone; the higher generation of a slot is the truth, as for objects.
     *
     * @return what the key has, or null when the line was out of date or already known
     */
    OfKey shown(NodeView node, DirectoryRecord line) {
        SequencedMap<Long, Marker> places = places(node);
        Marker present = places.get(place(line.extent()));
        if (present != null) {
            boolean confirmed = present.snapshot == node.snapshot;
            if (confirmed && isAtLeast(present.extent, line.extent())) {
                return null;
            }
            if (!confirmed && present.is(line)) {
                present.snapshot = node.snapshot;
                places.putLast(place(present.extent), present);
                return null;
            }
            if (confirmed) {
                remove(present);
            } else {
                lose(present);
            }
        }
        OfKey tombstone = byKey.get(line.key());
        if (tombstone == null) {
            tombstone = open(line.key());
        }
        changes++;
        Marker marker = new Marker(tombstone, node, line);
        tombstone.markers.add(marker);
        tombstone.measure();
        places.put(place(marker.extent), marker);
        node.room.tombstoneCame(marker.extentBytes);
        return tombstone;
    }

    private OfKey open(Key key) {
        OfKey tombstone = new OfKey(key);
        tombstone.term = term;
        byKey.put(key, tombstone);
        round.add(tombstone);
        return tombstone;
    }

    /** A node says that an extent is free, or that it holds something else now. */
    void freed(NodeView node, ExtentRef extent) {
        Marker present = places(node).get(place(extent));
        if (present != null && isAtLeast(extent, present.extent)) {
            remove(present);
        }
    }

    /** Whether this slot is known, from the same snapshot, to hold a tombstone of a higher generation. */
    boolean outdates(NodeView node, ExtentRef extent) {
        Marker present = places(node).get(place(extent));
        return present != null && present.snapshot == node.snapshot && !isAtLeast(extent, present.extent);
    }

    /**
     * Forgets so many of those that the node's latest snapshot did not hold.
     *
     * @return whether it holds all that are left
     */
    boolean dropUnconfirmed(NodeView node, int limit) {
        SequencedMap<Long, Marker> places = places(node);
        for (int i = 0; i < limit && isUnconfirmed(places.firstEntry(), node); i++) {
            lose(places.firstEntry().getValue());
        }
        return !isUnconfirmed(places.firstEntry(), node);
    }

    private static boolean isUnconfirmed(Map.Entry<Long, Marker> place, NodeView node) {
        return place != null && place.getValue().snapshot != node.snapshot;
    }

    /**
     * Forgets so many of a node.
     *
     * @return whether it has none any more
     */
    public boolean drop(NodeView node, int limit) {
        SequencedMap<Long, Marker> places = places(node);
        for (int i = 0; i < limit && !places.isEmpty(); i++) {
            lose(places.firstEntry().getValue());
        }
        boolean done = places.isEmpty();
        if (done) {
            byPlace.remove(node.id);
        }
        return done;
    }

    /** How many a node has. */
    public int countOn(NodeView node) {
        return places(node).size();
    }

    /** The key of the next tombstone of a node whose snapshot is complete, in an endless round; null when it has none. */
    public OfKey nextOn(NodeView node) {
        SequencedMap<Long, Marker> places = places(node);
        Map.Entry<Long, Marker> place = places.firstEntry();
        if (place == null) {
            return null;
        }
        places.putLast(place.getKey(), place.getValue());
        return place.getValue().tombstone;
    }

    /** This master leads: what it knows it does not forget when a node loses it. */
    public void beginTerm() {
        keepsLost = true;
    }

    /** What was asked of nodes ended with the term: forgotten for each key when a leader comes to it again. */
    public void endTerm() {
        term++;
        keepsLost = false;
        List.copyOf(lost).forEach(this::forgetLost);
    }

    /** It need not be known any more what nodes have lost of a tombstone. */
    public void forgetLost(OfKey tombstone) {
        if (lost.remove(tombstone)) {
            tombstone.lost = ObjectId.NONE;
            tombstone.measure();
            closeIfEmpty(tombstone);
        }
    }

    private void lose(Marker marker) {
        if (keepsLost && marker.id.isNewerThan(marker.tombstone.lost)) {
            marker.tombstone.lost = marker.id;
            lost.add(marker.tombstone);
        }
        remove(marker);
    }

    private void inThisTerm(OfKey tombstone) {
        if (tombstone.term != term) {
            tombstone.term = term;
            tombstone.forgetRequests();
        }
    }

    private void remove(Marker marker) {
        OfKey tombstone = marker.tombstone;
        places(marker.node).remove(place(marker.extent));
        marker.node.room.tombstoneWent(marker.extentBytes);
        tombstone.markers.remove(marker);
        tombstone.measure();
        closeIfEmpty(tombstone);
    }

    private void closeIfEmpty(OfKey tombstone) {
        if (tombstone.isEmpty()) {
            byKey.remove(tombstone.key, tombstone);
        }
    }

    private SequencedMap<Long, Marker> places(NodeView node) {
        return byPlace.computeIfAbsent(node.id, id -> new LinkedHashMap<>());
    }

    private static long place(ExtentRef extent) {
        return ((long) extent.segment() << 32) | extent.slot();
    }

    private static boolean isAtLeast(ExtentRef extent, ExtentRef other) {
        return Long.compareUnsigned(extent.generation(), other.generation()) >= 0;
    }
}
