// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.Counters.Count;
import dev.kvpool.dataplane.master.core.Tombstones.Grave;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;

/**
 * Keeps what an object replaced from being read again when the object is evicted. An older object of the key may lie on a node
 * that is out of view, and whoever leads when that one is back would take it for the key's object. So before the newer one goes,
 * what is being freed is waited for, since its node may be gone in a moment, and a tombstone below the newer one is written to a
 * majority of the expected nodes. It goes without one when no majority is in view, when tombstones have taken their part of a
 * node, and when nobody can know, since this leader has not heard a node: a full pool must be able to evict.
 */
final class Predecessors {
    /** Where older objects of a key are, or may be. */
    private enum Whereabouts {
        NOWHERE,
        ON_ITS_WAY_OUT,
        OUT_OF_VIEW,
        /** With a node that has not shown this leader what it holds. */
        UNKNOWN
    }

    private final Leadership leadership;
    private final Index index;
    private final Membership membership;
    private final Enrolments enrolments;
    private final LateWrites lateWrites;
    private final Tombstones tombstones;
    private final Burials burials;
    private final Counters counters;

    /** What {@link #look} has seen: nobody is out of view; what somebody holds was not told to this leader. */
    private boolean allInView;

    private boolean isAnyUnheard;

    /** How many tombstones, and of how many bytes, may still be written in this turn. */
    private long slotsLeft;

    private long bytesLeft;

    /** Until then objects go without a tombstone, since there was no room for one. */
    private long giveUpUntilMs = Long.MIN_VALUE;

    Predecessors(Leadership leadership, View view, Orders orders, Burials burials, Counters counters) {
        this.leadership = leadership;
        this.index = view.index();
        this.membership = view.membership();
        this.enrolments = orders.enrolments();
        this.lateWrites = orders.lateWrites();
        this.tombstones = view.tombstones();
        this.burials = burials;
        this.counters = counters;
    }

    /** Looks at the nodes as they are in this turn. */
    void look() {
        allInView = enrolments.isAllInView();
        isAnyUnheard = !allInView && isAnyUnheard();
        measureRoom();
    }

    void endTerm() {
        giveUpUntilMs = Long.MIN_VALUE;
    }

    /**
     * Whether nothing older comes back when a published object is evicted now, or nothing can be done about it. Else it is
     * being done, and the object can be asked about again soon.
     */
    boolean mayBeLeft(StoredObject object, long nowMs) {
        if (allInView && index.remains().isEmpty()) {
            return true;
        }
        Key key = object.key();
        return switch (whereabouts(object, key, nowMs)) {
            case NOWHERE -> true;
            case UNKNOWN -> goesUnmarked();
            case ON_ITS_WAY_OUT -> false;
            case OUT_OF_VIEW -> isCovered(object, key) || mark(object, key, nowMs);
        };
    }

    private boolean goesUnmarked() {
        counters.add(Count.EVICTED_UNMARKED);
        return true;
    }

    /** Whether an object has to go without a tombstone; else one is being written. */
    private boolean mark(StoredObject object, Key key, long nowMs) {
        if (burials.isBurying(key)) {
            return false;
        }
        long bytes = ExtentSize.of(key.length(), 0);
        if (nowMs < giveUpUntilMs || slotsLeft <= 0 || bytesLeft < bytes || burials.isFull()) {
            return goesUnmarked();
        }
        slotsLeft--;
        bytesLeft -= bytes;
        burials.bury(key, object.id().before(), outcome -> {
            switch (outcome.status()) {
                case OK, UNAVAILABLE, TIMEOUT -> {}
                default -> giveUpUntilMs = nowMs + Bounds.BURY_PAUSE_MS;
            }
        });
        return false;
    }

    private Whereabouts whereabouts(StoredObject object, Key key, long nowMs) {
        boolean inView = false;
        for (ObjectId id : index.remains().of(key)) {
            StoredObject older = object.id().isNewerThan(id) ? index.object(id) : null;
            if (older != null && older.usableReplicas() < Math.max(1, older.replicaCount())) {
                return Whereabouts.OUT_OF_VIEW;
            }
            inView |= older != null;
        }
        if (inView) {
            return Whereabouts.ON_ITS_WAY_OUT;
        }
        if (!allInView && lateWrites.mayCome(key, nowMs)) {
            return Whereabouts.OUT_OF_VIEW;
        }
        return isAnyUnheard ? Whereabouts.UNKNOWN : Whereabouts.NOWHERE;
    }

    private boolean isAnyUnheard() {
        for (String id : membership.expected()) {
            NodeView node = membership.node(id);
            if (node == null || !node.heardUnder.equals(leadership.authority())) {
                return true;
            }
        }
        return enrolments.isAnyUnheardByLeader();
    }

    private boolean isCovered(StoredObject object, Key key) {
        Grave grave = tombstones.grave(key);
        if (grave == null || object.id().before().isNewerThan(grave.upTo())) {
            return false;
        }
        int keepers = 0;
        for (NodeView node : membership.expectedInView()) {
            keepers += grave.isOn(node) ? 1 : 0;
        }
        return keepers >= membership.majority();
    }

    private void measureRoom() {
        boolean possible = !allInView && membership.isMajorityInView();
        slotsLeft = possible ? Long.MAX_VALUE : 0;
        bytesLeft = Long.MAX_VALUE;
        for (NodeView node : membership.expectedInView()) {
            long slots = node.capacitySlots / Bounds.TOMBSTONES_OF_EVICTIONS - node.tombstoneSlots;
            slotsLeft = Math.min(slotsLeft, slots - burials.underWay());
            bytesLeft = Math.min(bytesLeft, node.capacityBytes / Bounds.TOMBSTONES_OF_EVICTIONS - node.tombstoneBytes);
        }
    }
}
