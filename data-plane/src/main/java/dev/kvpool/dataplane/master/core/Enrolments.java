// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.Tombstones.Grave;
import dev.kvpool.dataplane.master.core.Tombstones.Marker;
import java.util.ArrayList;
import java.util.List;

/**
 * Which transient nodes belong to the pool. Nobody configures them, so a leader that has just begun could not know of one
 * that it has not heard, and would acknowledge removals which that one undoes when it connects. Therefore a transient node
 * takes objects only when a majority of the expected nodes has it written down, like a tombstone: whoever leads next learns
 * of it from them, and keeps removals written down until that node is there or is struck off. Without expected nodes there
 * is nowhere to write, and every transient node counts as enrolled.
 */
final class Enrolments {
    private final Leadership leadership;
    private final Membership membership;
    private final Tombstones tombstones;
    private final Purges purges;

    Enrolments(Leadership leadership, Membership membership, Tombstones tombstones, Purges purges) {
        this.leadership = leadership;
        this.membership = membership;
        this.tombstones = tombstones;
        this.purges = purges;
    }

    boolean areNeeded() {
        return !membership.expected().isEmpty();
    }

    /** What expected nodes have written down about a node and no purge has taken, or null. */
    Grave of(NodeView node) {
        Grave grave = tombstones.enrolment(node.id);
        return grave != null && isValid(grave) ? grave : null;
    }

    boolean isValid(Grave grave) {
        return !purges.isPurged(grave.upTo());
    }

    /** Nodes that new objects may be put on. */
    List<NodeView> takers() {
        List<NodeView> takers = membership.takers();
        takers.removeIf(node -> node.isTransient && !mayTake(node));
        return takers;
    }

    /** Whoever leads next will know of this node. */
    private boolean mayTake(NodeView node) {
        Grave grave = of(node);
        return !areNeeded() || (grave != null && !grave.struckOff && keepers(grave) >= membership.majority());
    }

    private int keepers(Grave grave) {
        int keepers = 0;
        for (Marker marker : grave.markers()) {
            boolean counts = marker.id.equals(grave.upTo())
                    && membership.expected().contains(marker.node.id)
                    && !marker.node.isTransient;
            keepers += counts ? 1 : 0;
        }
        return keepers;
    }

    /** Whether what a node holds may be used: nothing was removed without telling it, as far as it has anything. */
    boolean mayTakePart(NodeView node) {
        if (!node.isTransient || !areNeeded() || node.replicaCount() == 0) {
            return true;
        }
        Grave grave = of(node);
        return grave == null ? isForgottenByChance(node) : !grave.struckOff;
    }

    /**
     * So many expected nodes were without any memory when they connected to this master that all who had the node written
     * down may be among them, and nobody was seen striking it off. That counts until this leader serves: then it removes
     * without minding a node it does not know.
     */
    private boolean isForgottenByChance(NodeView node) {
        int blank = 0;
        for (NodeView expected : membership.expectedInView()) {
            boolean remembers = expected.info.seen().epoch() != 0;
            blank += remembers ? 0 : 1;
        }
        return leadership.phase() == Leadership.Phase.RECOVERING
                && blank >= membership.majority()
                && !tombstones.wasStruckOff(node.id);
    }

    /** Every node that should be there, or is written down, takes part: what they do not hold, nobody holds. */
    boolean isAllInView() {
        return membership.isAllInView() && !isAnyOut();
    }

    /** Some transient node that is written down takes no part now, and may come back with what it holds. */
    private boolean isAnyOut() {
        for (Grave grave : tombstones.enrolments()) {
            NodeView node = membership.node(EnrolmentKey.nodeId(grave.key));
            if (isValid(grave) && (node == null || !node.usable)) {
                return true;
            }
        }
        return false;
    }

    private boolean mayCome(Grave grave) {
        return isValid(grave) && !grave.struckOff && !membership.hasEnded(EnrolmentKey.nodeId(grave.key));
    }

    /** Some transient node that may come back has not shown this leader what it holds. */
    boolean isAnyUnheardByLeader() {
        for (Grave grave : tombstones.enrolments()) {
            NodeView node = membership.node(EnrolmentKey.nodeId(grave.key));
            boolean heard = node != null && node.heardUnder.equals(leadership.authority());
            if (mayCome(grave) && !heard) {
                return true;
            }
        }
        return false;
    }

    /** Ids of transient nodes that may come and that this master has never heard: what they hold is not known here. */
    List<String> unheard() {
        List<String> unheard = new ArrayList<>();
        for (Grave grave : tombstones.enrolments()) {
            String id = EnrolmentKey.nodeId(grave.key);
            NodeView node = membership.node(id);
            if (mayCome(grave) && (node == null || !node.known)) {
                unheard.add(id);
            }
        }
        return unheard;
    }
}
