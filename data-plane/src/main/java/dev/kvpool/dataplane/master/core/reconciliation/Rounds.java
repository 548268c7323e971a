// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.reconciliation;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.ObjectChain;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ObjLongConsumer;

/**
 * Goes through the objects about which {@link Reconciliation} has something to decide, however many they are, a bounded number
 * in one turn: before a leader serves, when a node joins one that does, and on a standby, so that little is left to a
 * takeover. A node is not relied on before all it shows has been decided about: what loses there must not be found, nor be
 * missed by a removal.
 */
public final class Rounds {
    private static final long NEVER = -1;

    /** A node that joins, and how many of its tombstones have still to be looked at. */
    private static final class NodeTombstones {
        final NodeView node;
        int left;

        NodeTombstones(NodeView node, int left) {
            this.node = node;
            this.left = left;
        }
    }

    private final Index index;
    private final Frees frees;
    private final Tombstones tombstones;
    private final Reconciliation reconciliation;
    private final ObjLongConsumer<NodeView> whenJoined;

    /** Published objects that a purge may cover; unsettled ones; what is given up and may still lie somewhere. */
    private ObjectChain.Walk published;

    private ObjectChain.Walk unsettled;
    private ObjectChain.Walk pendingFree;

    /** Which state of the tombstones was gone through in this term, and how many of them have still to be. */
    private long tombstonesSeen = NEVER;

    private int tombstonesLeft;

    /** Nodes that join when the round under way is done, and when the next one is. */
    private final Set<NodeView> joining = new LinkedHashSet<>();

    private final Set<NodeView> joiningNext = new LinkedHashSet<>();

    private final Deque<NodeTombstones> tombstonesOfNodes = new ArrayDeque<>();

    /** @param whenJoined told that all has been decided about what a node shows */
    public Rounds(
            Index index,
            Frees frees,
            Tombstones tombstones,
            Reconciliation reconciliation,
            ObjLongConsumer<NodeView> whenJoined) {
        this.index = index;
        this.frees = frees;
        this.tombstones = tombstones;
        this.reconciliation = reconciliation;
        this.whenJoined = whenJoined;
    }

    /** A purge has come into view that was begun under an earlier leader and reached few nodes. */
    public void purgeSeen() {
        end(published);
        published = index.recency().fromFirst();
    }

    /** A node obeys the leader, which serves, and its directory is known. */
    public void join(NodeView node) {
        node.joins(true);
        joining.remove(node); // that was an earlier connection, of which other things were shown
        joiningNext.add(node);
    }

    /**
     * Decides, before a leader serves, about what is left to decide.
     *
     * @return whether that is all; else it is to be called again in another turn
     */
    public boolean decide(long nowMs) {
        boolean ready = frees.goOnTakingBack(Bounds.FREES_TAKEN_BACK_PER_TICK)
                && index.goOnReconsidering(Bounds.SETTLED_PER_TURN);
        if (!ready) {
            return false;
        }
        int left = goThroughPublished(Bounds.SETTLED_PER_TURN, nowMs);
        if (unsettled == null) {
            reconciliation.lookingAtAll();
            unsettled = index.unsettled().throughAll();
        }
        if (left <= 0 || !goThroughUnsettled(left, reconciliation::settle, nowMs)) {
            return false;
        }
        return goThroughTombstones(nowMs);
    }

    /** All tombstones, and all anew when one comes into view meanwhile. */
    private boolean goThroughTombstones(long nowMs) {
        if (tombstonesSeen != tombstones.changes()) {
            tombstonesSeen = tombstones.changes();
            tombstonesLeft = tombstones.size();
        }
        for (int i = 0; i < Bounds.SETTLED_PER_TURN && tombstonesLeft > 0; i++) {
            tombstonesLeft--;
            Tombstones.OfKey tombstone = tombstones.next();
            if (tombstone != null) {
                reconciliation.settle(tombstone, nowMs);
            }
        }
        return tombstonesLeft == 0;
    }

    /** The leader serves from now on: what is given up can be freed. */
    public void serving() {
        lookAtPendingFree();
    }

    /** What a leader that serves has to decide. */
    public void tick(long nowMs) {
        goThroughPublished(Bounds.SETTLED_PER_TICK, nowMs);
        if (unsettled == null && (reconciliation.isWaiting() || !joiningNext.isEmpty())) {
            reconciliation.lookingAtAll();
            unsettled = index.unsettled().throughAll();
            joining.addAll(joiningNext);
            joiningNext.forEach(node -> tombstonesOfNodes.add(new NodeTombstones(node, tombstones.countOn(node))));
            joiningNext.clear();
        }
        boolean takenBack = frees.goOnTakingBack(Bounds.FREES_TAKEN_BACK_PER_TICK);
        boolean decided = unsettled != null
                && takenBack
                && goThroughTombstonesOfNodes(nowMs)
                && goThroughUnsettled(Bounds.SETTLED_PER_TICK, reconciliation::settleWhileServing, nowMs);
        if (decided) {
            letIn(nowMs);
        }
        goThroughPendingFree(nowMs);
    }

    /** What the tombstones of nodes cover must be out of sight before these take part. */
    private boolean goThroughTombstonesOfNodes(long nowMs) {
        int left = Bounds.TOMBSTONES_OF_NODE_PER_TICK;
        while (!tombstonesOfNodes.isEmpty()) {
            NodeTombstones ofNode = tombstonesOfNodes.peek();
            while (ofNode.node.joining() && ofNode.left > 0) {
                if (left == 0) {
                    return false;
                }
                left--;
                ofNode.left--;
                lookAtTombstoneOf(ofNode.node, nowMs);
            }
            tombstonesOfNodes.remove();
        }
        return true;
    }

    private void lookAtTombstoneOf(NodeView node, long nowMs) {
        Tombstones.OfKey tombstone = tombstones.nextOn(node);
        if (tombstone != null) {
            reconciliation.settle(tombstone, nowMs);
        }
    }

    private void letIn(long nowMs) {
        List<NodeView> ready = new ArrayList<>(joining);
        joining.clear();
        for (NodeView node : ready) {
            // It may have gone meanwhile, or be another connection that has not answered a fence.
            if (node.joining()) {
                node.joins(false);
                whenJoined.accept(node, nowMs);
                lookAtPendingFree();
            }
        }
    }

    /** What a master that does not lead can do before it has to: the newest object of each key gets it. */
    public void tickOnStandby(long nowMs) {
        frees.goOnTakingBack(Bounds.FREES_TAKEN_BACK_PER_TICK);
        index.goOnReconsidering(Bounds.SETTLED_PER_TICK);
        goThroughPublished(Bounds.CLAIMED_PER_TICK, nowMs);
        if (unsettled == null) {
            unsettled = index.unsettled().fromFirst();
        }
        for (int i = 0; i < Bounds.CLAIMED_PER_TICK; i++) {
            StoredObject object = unsettled.next();
            if (object == null) {
                unsettled = end(unsettled);
                return;
            }
            reconciliation.claim(object, nowMs);
        }
    }

    /** A new term, or none, begins: it decides anew. */
    public void endTerm() {
        unsettled = end(unsettled);
        pendingFree = end(pendingFree);
        tombstonesSeen = NEVER;
        joining.forEach(node -> node.joins(false));
        joiningNext.forEach(node -> node.joins(false));
        joining.clear();
        joiningNext.clear();
        tombstonesOfNodes.clear();
    }

    /** How many visits are left. */
    private int goThroughPublished(int visits, long nowMs) {
        int left = visits;
        while (published != null && left > 0) {
            left--;
            StoredObject object = published.next();
            if (object == null) {
                published = end(published);
            } else {
                reconciliation.settlePublished(object, nowMs);
            }
        }
        return left;
    }

    private boolean goThroughUnsettled(int visits, ObjLongConsumer<StoredObject> settle, long nowMs) {
        for (int i = 0; i < visits; i++) {
            StoredObject object = unsettled.next();
            if (object == null) {
                unsettled = end(unsettled);
                return true;
            }
            settle.accept(object, nowMs);
        }
        return false;
    }

    private void lookAtPendingFree() {
        end(pendingFree);
        pendingFree = index.pendingFree().fromFirst();
    }

    private void goThroughPendingFree(long nowMs) {
        for (int i = 0; i < Bounds.SETTLED_PER_TICK && pendingFree != null; i++) {
            StoredObject object = pendingFree.next();
            if (object == null) {
                pendingFree = end(pendingFree);
            } else {
                reconciliation.giveUpRest(object, nowMs);
            }
        }
    }

    private static ObjectChain.Walk end(ObjectChain.Walk walk) {
        if (walk != null) {
            walk.end();
        }
        return null;
    }
}
