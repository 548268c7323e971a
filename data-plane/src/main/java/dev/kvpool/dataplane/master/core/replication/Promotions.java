// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.replication;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.IndexRoom;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Brings what is asked for again and again from the SSD back to the memory of its node: a copy like those of a repair, within
 * the same bounds. It stays on the SSD as well, so that it need not be written again when it has to leave memory.
 */
public final class Promotions {
    /** Lookups of one object that memory could not serve. */
    private static final class Hits {
        private int count;
        private long sinceMs;
    }

    private final Index index;
    private final IndexRoom room;
    private final Copies copies;
    private final Counters counters;
    private final Map<StoredObject.Name, Hits> hits = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<StoredObject.Name, Hits> eldest) {
            return size() > Bounds.PROMOTION_COUNTED_MAX;
        }
    };
    private final Set<StoredObject.Name> waiting = new LinkedHashSet<>();
    private int begun;

    public Promotions(View view, Copies copies, Counters counters) {
        this.index = view.index();
        this.room = view.room();
        this.copies = copies;
        this.counters = counters;
    }

    /** A reader was sent to the SSD. */
    public void hit(StoredObject.Name object, long nowMs) {
        Hits known = hits.computeIfAbsent(object, it -> new Hits());
        if (known.count == 0 || nowMs - known.sinceMs > Bounds.PROMOTION_WINDOW_MS) {
            known.count = 0;
            known.sinceMs = nowMs;
        }
        known.count++;
        if (known.count < Bounds.PROMOTION_HITS) {
            counters.add(Count.PROMOTIONS_SELDOM);
        } else if (waiting.size() >= Bounds.PROMOTIONS_WAITING_MAX) {
            counters.add(Count.PROMOTIONS_FULL);
        } else {
            admit(object);
        }
    }

    private void admit(StoredObject.Name object) {
        hits.remove(object);
        counters.add(Count.PROMOTIONS_ADMITTED, waiting.add(object) ? 1 : 0);
    }

    /** Those that wait, and those that are being made. */
    public int underWay() {
        return waiting.size() + begun;
    }

    /** Where an object is that was asked for ahead of its reads. */
    public enum Place {
        IN_MEMORY,
        ON_ITS_WAY,
        /** The memory of its node has no room for it, or the index none for another record. */
        NO_ROOM,
        /** Too many others wait already. */
        QUEUE_FULL,
        UNAVAILABLE
    }

    /** Somebody says that an object is read soon: it need not be asked for again and again. */
    public Place fetch(StoredObject object) {
        if (isInMemory(object)) {
            return Place.IN_MEMORY;
        }
        StoredObject.Name name = object.name();
        if (waiting.contains(name) || copies.isUnderWay(name)) {
            return Place.ON_ITS_WAY;
        }
        Replica source = source(object);
        if (source == null) {
            return Place.UNAVAILABLE;
        }
        if (!hasRoom(source, object)) {
            return Place.NO_ROOM;
        }
        if (waiting.size() >= Bounds.PROMOTIONS_WAITING_MAX) {
            return Place.QUEUE_FULL;
        }
        admit(name);
        return Place.ON_ITS_WAY;
    }

    public void endTerm() {
        hits.clear();
        counters.add(Count.PROMOTIONS_CANCELLED, waiting.size());
        waiting.clear();
    }

    /** Begins with what waits, in its order. What finds no room is forgotten: it comes again with its next hits. */
    public void tick(Authority authority) {
        while (!waiting.isEmpty()) {
            Iterator<StoredObject.Name> first = waiting.iterator();
            StoredObject object = index.object(first.next());
            Replica source = object == null ? null : source(object);
            if (source != null && copies.budget(source.node()) < source.extentBytes()) {
                return;
            }
            first.remove();
            if (source == null) {
                counters.add(Count.PROMOTIONS_CANCELLED);
            } else if (!hasRoom(source, object)) {
                counters.add(Count.PROMOTIONS_NO_ROOM);
            } else {
                begun++;
                copies.start(source, source.node(), authority, (from, to, bytes, done) -> ended(bytes, done));
            }
        }
    }

    private void ended(long bytes, boolean done) {
        begun--;
        counters.add(Count.PROMOTED_BYTES, done ? bytes : 0);
        counters.add(done ? Count.PROMOTIONS_DONE : Count.PROMOTIONS_FAILED);
    }

    private boolean hasRoom(Replica source, StoredObject object) {
        long bytes = ExtentSize.of(object.key().length(), object.payloadLength());
        return room.takesCopies() && source.node().room.has(bytes);
    }

    private static boolean isInMemory(StoredObject object) {
        for (Replica replica : object.replicas()) {
            if (replica.isInMemory() && replica.node().usable()) {
                return true;
            }
        }
        return false;
    }

    /** Where it lies on an SSD, if no memory has it and nothing else is done with it. */
    private Replica source(StoredObject object) {
        if (object.fate() != StoredObject.Fate.PUBLISHED || copies.isUnderWay(object.name()) || isInMemory(object)) {
            return null;
        }
        Replica source = null;
        for (Replica replica : object.replicas()) {
            boolean readable = replica.isStaying();
            source = readable && !replica.isInMemory() ? replica : source;
        }
        return source;
    }
}
