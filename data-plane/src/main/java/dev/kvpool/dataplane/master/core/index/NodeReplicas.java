// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.room.Held;
import dev.kvpool.dataplane.master.core.slab.Mix;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.slab.SplitTable;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import org.agrona.collections.IntArrayList;

/** The replicas of one node by their place in its directory, with their sums. Changed by the {@link Index} alone. */
final class NodeReplicas {
    /** Snapshots are numbered from 1 to this and then from 1 again. */
    static final int SNAPSHOT_MAX = 0x7fff;

    private static final int UNCONFIRMED = 0;

    private ReplicaRecords records;
    private ByPlace byPlace;
    private int number = NodeNumbers.NONE;
    private int snapshot = UNCONFIRMED;

    /** The first snapshot since the last that became whole, that one included: no replica carries the number of an older one. */
    private int oldest = UNCONFIRMED + 1;

    private long unconfirmed;

    /** How far the search for what is not confirmed is; null when nobody searches. */
    private SplitTable.Tour search;

    private final Sums memory = new Sums();
    private final Sums ssd = new Sums();

    /** Of the replicas on one medium, those that are being freed included. */
    static final class Sums implements Held {
        private long count;
        private long bytes;
        private long freeingBytes;
        private long freeingSlots;

        @Override
        public long count() {
            return count;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public long freeingBytes() {
            return freeingBytes;
        }

        @Override
        public long freeingSlots() {
            return freeingSlots;
        }
    }

    /** Segment and slot find a replica of whatever generation: a slot holds one. */
    private static final class ByPlace extends SplitTable {
        private final ReplicaRecords records;

        ByPlace(Slabs slabs, ReplicaRecords records) {
            super(slabs, ReplicaRecords.NEXT_BY_PLACE, 2);
            this.records = records;
        }

        @Override
        protected int hashOf(int replica) {
            return hash(records.segment(replica), records.slot(replica));
        }

        /** Nodes fill their slots from the first, and send them in order: neighbours share cache lines of the table. */
        static int hash(int segment, long slot) {
            return Mix.of(segment) + (int) slot;
        }
    }

    /** To be called before the first replica is added. */
    void open(Slabs slabs, ReplicaRecords replicaRecords) {
        if (byPlace == null) {
            records = replicaRecords;
            byPlace = new ByPlace(slabs, replicaRecords);
        }
    }

    /** What lies in the slot of an extent, of whatever generation; {@link Slabs#NONE} when nothing does. */
    int at(ExtentRef extent) {
        if (byPlace == null) {
            return Slabs.NONE;
        }
        int replica = byPlace.first(ByPlace.hash(extent.segment(), extent.slot()));
        while (replica != Slabs.NONE && !records.isIn(replica, extent)) {
            replica = byPlace.next(replica);
        }
        return replica;
    }

    /** Every replica, in no order; none may come or go meanwhile. */
    SplitTable.Walk walk() {
        return byPlace == null ? SplitTable.NOTHING : byPlace.walk();
    }

    /** A way through all of them in many parts, while others come and go. */
    SplitTable.Tour tour() {
        return byPlace == null ? SplitTable.NO_TOUR : byPlace.tour();
    }

    /** Every replica, for walks that change what they walk over. */
    int[] copy() {
        return some(Integer.MAX_VALUE);
    }

    /** As many of them at most. */
    int[] some(int limit) {
        int[] all = new int[(int) Math.min(limit, count())];
        SplitTable.Walk walk = walk();
        for (int i = 0; i < all.length; i++) {
            all[i] = walk.next();
        }
        return all;
    }

    long count() {
        return byPlace == null ? 0 : byPlace.size();
    }

    /** How many the node was, or is about to be, told to free. */
    long freeingCount() {
        return memory.freeingSlots + ssd.freeingSlots;
    }

    Sums memory() {
        return memory;
    }

    Sums ssd() {
        return ssd;
    }

    private Sums sums(int replica) {
        return records.isInMemory(replica) ? memory : ssd;
    }

    void add(int replica) {
        byPlace.add(replica);
        sums(replica).count++;
        sums(replica).bytes += records.extentBytes(replica);
    }

    void remove(int replica) {
        noLongerFreeing(replica);
        unconfirmed -= isConfirmed(replica) ? 0 : 1;
        byPlace.remove(replica);
        sums(replica).count--;
        sums(replica).bytes -= records.extentBytes(replica);
    }

    void freeing(int replica) {
        if (!records.isFreeing(replica)) {
            records.setFreeing(replica, true);
            sums(replica).freeingBytes += records.extentBytes(replica);
            sums(replica).freeingSlots++;
        }
    }

    void noLongerFreeing(int replica) {
        if (records.isFreeing(replica)) {
            records.setFreeing(replica, false);
            sums(replica).freeingBytes -= records.extentBytes(replica);
            sums(replica).freeingSlots--;
        }
    }

    // ---- snapshots ------------------------------------------------------------------------------------------------

    /** The number of the snapshot that is being, or was last, received. */
    int snapshot() {
        return snapshot;
    }

    /** From now on nothing is confirmed. */
    void beginSnapshot() {
        endSearch();
        int next = snapshot == SNAPSHOT_MAX ? UNCONFIRMED + 1 : snapshot + 1;
        if (next == oldest && snapshot != UNCONFIRMED) {
            // So many in a row broke off: what one of the first of them confirmed must not look confirmed again.
            for (int replica : copy()) {
                records.setSnapshot(replica, UNCONFIRMED);
            }
        }
        snapshot = next;
        unconfirmed = count();
    }

    /** All there is was confirmed by this snapshot: numbers of older ones may be given anew. */
    void becameWhole() {
        endSearch();
        oldest = snapshot;
    }

    boolean isConfirmed(int replica) {
        return records.snapshot(replica) == snapshot;
    }

    /** Whether there are any that {@link #isConfirmed} does not hold of. */
    boolean hasUnconfirmed() {
        return unconfirmed > 0;
    }

    /** Goes on, past about so many replicas, in search of some that are not confirmed. The caller takes them out. */
    int[] searchUnconfirmed(int visits) {
        if (search == null || search.isDone()) {
            search = tour();
        }
        IntArrayList found = new IntArrayList();
        search.goOn(visits, replica -> {
            if (!isConfirmed(replica)) {
                found.addInt(replica);
            }
        });
        return found.toIntArray();
    }

    /** To be called when the search is not made to its end. */
    void endSearch() {
        if (search != null) {
            search.end();
            search = null;
        }
    }

    void confirm(int replica) {
        unconfirmed -= isConfirmed(replica) ? 0 : 1;
        records.setSnapshot(replica, snapshot);
    }

    // ---- kept by NodeNumbers --------------------------------------------------------------------------------------

    int number() {
        return number;
    }

    void setNumber(int number) {
        this.number = number;
    }
}
