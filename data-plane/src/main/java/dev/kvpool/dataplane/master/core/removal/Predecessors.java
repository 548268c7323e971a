// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.command.LateWrites;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import dev.kvpool.dataplane.master.core.index.Tombstones.OfKey;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.List;

/**
 * Keeps what an object replaced from being read again when the object is evicted. An older object of the key may lie on a node
 * that is out of view, and whoever leads when that one is back would take it for the key's object. So before the newer one goes,
 * what is being freed is waited for, since its node may be gone in a moment, and a tombstone below the newer one is written to
 * the register's witnesses. It goes without one when no node in view can witness, when tombstones have taken their part of a
 * node, and when nobody can know, since this leader has not heard a node: a full pool must be able to evict.
 */
public final class Predecessors {
    /** Where older objects of a key are, or may be. */
    private enum Whereabouts {
        NOWHERE,
        ON_ITS_WAY_OUT,
        OUT_OF_VIEW_OR_OUTDONE
    }

    private final Index index;
    private final Members members;
    private final Absences absences;
    private final RegisterKeeper register;
    private final LateWrites lateWrites;
    private final Tombstones tombstones;
    private final TombstoneWriter tombstoneWriter;
    private final Counters counters;

    /** What {@link #look} has seen: nobody is out of view; what somebody holds was not told to this leader. */
    private boolean allInView;

    /** What an object older than this id replaced, nobody holds of whom this leader does not know what he holds. */
    private ObjectId unheardSince = ObjectId.NONE;

    private boolean isAnyUnheard;

    /** How many tombstones, and of how many bytes, may still be written in this turn. */
    private long slotsLeft;

    private long bytesLeft;

    /** Until then objects go without a tombstone, since there was no room for one. */
    private long giveUpUntilMs = Long.MIN_VALUE;

    /** An object was passed over, since there is no room for its tombstone; and there is nothing else to evict. */
    private boolean refusedForRoom;

    private boolean lastResort;

    public Predecessors(View view, Orders orders, TombstoneWriter tombstoneWriter, Counters counters) {
        this.index = view.index();
        this.members = orders.members();
        this.absences = orders.absences();
        this.register = orders.register();
        this.lateWrites = orders.lateWrites();
        this.tombstones = view.tombstones();
        this.tombstoneWriter = tombstoneWriter;
        this.counters = counters;
    }

    /** Looks at the nodes as they are in this turn. */
    public void look() {
        allInView = members.isAllInView();
        lookAtUnheard();
        measureRoom();
    }

    /** A walk found too little: what had to stay for want of a tombstone may go in the next one. */
    public void nothingElseIsLeft() {
        lastResort = refusedForRoom;
    }

    /** There is enough room again. */
    public void enough() {
        lastResort = false;
        refusedForRoom = false;
    }

    public void endTerm() {
        enough();
        giveUpUntilMs = Long.MIN_VALUE;
    }

    /**
     * Whether nothing older comes back when a published object is evicted now, or nothing can be done about it. Else it is
     * being done, and the object can be asked about again soon.
     */
    public boolean mayBeLeft(StoredObject object, long nowMs) {
        return mayBeLeft(object, lastResort, nowMs);
    }

    /**
     * The same for an eviction that knows by itself whether there is anything else.
     *
     * @param last there is not: the object goes without a tombstone if there is no room for one
     */
    public boolean mayBeLeft(StoredObject object, boolean last, long nowMs) {
        if (allInView && index.remains().isEmpty()) {
            return true;
        }
        Key key = object.key();
        return switch (whereabouts(object, key, nowMs)) {
            case NOWHERE -> true;
            case ON_ITS_WAY_OUT -> false;
            case OUT_OF_VIEW_OR_OUTDONE -> isCovered(object, key) || mark(object, key, last, nowMs);
        };
    }

    private boolean goesUnmarked() {
        counters.add(Count.EVICTED_UNMARKED);
        return true;
    }

    /** Whether an object has to go without a tombstone; else one is being written. */
    private boolean mark(StoredObject object, Key key, boolean last, long nowMs) {
        if (tombstoneWriter.isWriting(key)) {
            return false;
        }
        long bytes = ExtentSize.of(key.length(), 0);
        if (nowMs < giveUpUntilMs || slotsLeft <= 0 || bytesLeft < bytes || tombstoneWriter.isFull()) {
            refusedForRoom = true;
            return last && goesUnmarked();
        }
        slotsLeft--;
        bytesLeft -= bytes;
        tombstoneWriter.write(key, object.id().before(), List.of(), SsdClearing.When.IN_ITS_TIME, nowMs, outcome -> {
            switch (outcome.status()) {
                case OK, UNAVAILABLE, TIMEOUT -> {}
                default -> giveUpUntilMs = nowMs + Bounds.TOMBSTONE_PAUSE_MS;
            }
        });
        return false;
    }

    private Whereabouts whereabouts(StoredObject object, Key key, long nowMs) {
        boolean inView = false;
        for (ObjectId id : index.remains().of(key)) {
            StoredObject older = object.id().isNewerThan(id) ? index.object(id, key) : null;
            // One that is only outdone comes back as soon as this one goes.
            boolean comesBack = older != null
                    && (older.fate() == StoredObject.Fate.UNSETTLED
                            || older.usableReplicas() < Math.max(1, older.replicaCount()));
            if (comesBack) {
                return Whereabouts.OUT_OF_VIEW_OR_OUTDONE;
            }
            inView |= older != null;
        }
        if (inView) {
            return Whereabouts.ON_ITS_WAY_OUT;
        }
        if (!allInView && lateWrites.mayCome(key, nowMs)) {
            return Whereabouts.OUT_OF_VIEW_OR_OUTDONE;
        }
        boolean mayBeUnheard = isAnyUnheard && !unheardSince.isNewerThan(object.id());
        return mayBeUnheard ? Whereabouts.OUT_OF_VIEW_OR_OUTDONE : Whereabouts.NOWHERE;
    }

    /**
     * What was put before a node went away had replaced nothing on it that was not freed, or written down, before the put was
     * acknowledged. So only what was put since then can have replaced something there that this leader does not know.
     */
    private void lookAtUnheard() {
        isAnyUnheard = false;
        for (String id : members.unheard()) {
            ObjectId since = register.stored().missesFrom(id);
            if (!since.equals(ObjectId.NONE)) {
                unheardSince = isAnyUnheard && since.isNewerThan(unheardSince) ? unheardSince : since;
                isAnyUnheard = true;
            }
        }
    }

    private boolean isCovered(StoredObject object, Key key) {
        OfKey tombstone = tombstones.ofKey(key);
        if (tombstone == null || object.id().before().isNewerThan(tombstone.upTo())) {
            return false;
        }
        for (NodeView witness : absences.witnessesInView()) {
            if (tombstone.isOn(witness)) {
                return true;
            }
        }
        return false;
    }

    private void measureRoom() {
        slotsLeft = 0;
        if (allInView || !absences.isPossible()) {
            return;
        }
        slotsLeft = Long.MAX_VALUE;
        bytesLeft = Long.MAX_VALUE;
        for (NodeView node : keepers()) {
            long slots = node.room.capacitySlots() / Bounds.TOMBSTONES_OF_EVICTIONS - node.room.tombstoneSlots();
            slotsLeft = Math.min(slotsLeft, slots - tombstoneWriter.underWay());
            bytesLeft = Math.min(
                    bytesLeft, node.room.capacityBytes() / Bounds.TOMBSTONES_OF_EVICTIONS - node.room.tombstoneBytes());
        }
    }

    private List<NodeView> keepers() {
        return absences.witnessesInView().isEmpty() ? absences.candidates() : absences.witnessesInView();
    }
}
