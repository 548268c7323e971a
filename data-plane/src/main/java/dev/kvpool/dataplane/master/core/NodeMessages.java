// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.base.ProtocolViolation;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.IndexFullException;
import dev.kvpool.dataplane.master.core.index.NodeStream;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import dev.kvpool.dataplane.master.core.liveness.Departures;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.reconciliation.Reconciliation;
import dev.kvpool.dataplane.master.core.register.FailedSsds;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.request.PublishRequests;
import dev.kvpool.dataplane.master.core.takeover.Takeover;
import dev.kvpool.dataplane.master.core.upkeep.Upkeep;
import dev.kvpool.dataplane.register.RegisterText;
import dev.kvpool.dataplane.wire.message.NodeMessage;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeLeaves;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import java.util.function.Consumer;

/** What each message of a storage node leads to: in the view on every master, and beyond it on the one that leads. */
final class NodeMessages {
    private final Leadership leadership;
    private final Membership membership;
    private final Takeover takeover;
    private final Reconciliation reconciliation;
    private final PublishRequests publishes;
    private final Frees frees;
    private final Members members;
    private final FailedSsds failedSsds;
    private final Upkeep upkeep;
    private final Departures departures;
    private final Counters counters;
    private final Outbox outbox;
    private final Consumer<NodeView> whenLeft;
    private final NodeStream stream;
    private long sharedMs;
    private long nowMs;

    /** @param whenLeft told of a node that has ended, and its memory with it */
    NodeMessages(
            Leadership leadership,
            View view,
            Orders orders,
            Takeover takeover,
            Reconciliation reconciliation,
            PublishRequests publishes,
            Upkeep upkeep,
            Departures departures,
            Counters counters,
            Outbox outbox,
            Consumer<NodeView> whenLeft) {
        this.leadership = leadership;
        this.membership = view.membership();
        this.takeover = takeover;
        this.reconciliation = reconciliation;
        this.publishes = publishes;
        this.frees = orders.frees();
        this.members = orders.members();
        this.failedSsds = orders.failedSsds();
        this.upkeep = upkeep;
        this.departures = departures;
        this.counters = counters;
        this.outbox = outbox;
        this.whenLeft = whenLeft;
        stream = new NodeStream(
                leadership, view.index(), view.room(), view.tombstones(), this::committed, this::tombstoneShown);
    }

    void receive(NodeView node, NodeMessage message, long now) throws ProtocolViolation, IndexFullException {
        nowMs = now;
        switch (message) {
            case NodeInfo it -> introduced(node, it);
            case SnapshotBegin it -> stream.begin(node, it);
            case SnapshotRecords it -> stream.snapshot(node, it);
            case Changes it -> stream.changes(node, it);
            case SnapshotEnd it -> {
                stream.end(node, it);
                compare(node);
            }
            case NodeStats it -> {
                node.told(it);
                failedSsds.note(node);
                if (leadership.leads()) {
                    takeover.fencing().toldVersions(node);
                }
            }
            case LeaderGone it -> departures.heard(node, it, nowMs);
            case NodeLeaves it -> left(node);
            case FenceAck it -> takeover.fenceAnswered(node, it, nowMs);
            case CommandAck it -> answered(node, it);
        }
    }

    private void introduced(NodeView node, NodeInfo info) throws ProtocolViolation {
        if (!RegisterText.isId(node.id)) { // in the register it would be a line that no master can read
            throw new ProtocolViolation(
                    "a node id has 1 to 253 printable characters of ASCII without spaces and commas");
        }
        if (info.isTransient() && members.isStorageNode(node.id)) {
            throw new ProtocolViolation("node " + node.id + " lends memory for as long as it lives, but " + node.id
                    + " is a storage node of this pool; give it another id");
        }
        if (info.memory() == 0 && !info.isTransient()) {
            throw new ProtocolViolation("node " + node.id + " is a storage node, and its memory has no number");
        }
        stream.introduce(node, info);
        membership.shareIndex();
        upkeep.introduced(node);
        failedSsds.note(node);
        if (leadership.leads()) {
            takeover.fencing().fence(node, nowMs);
        }
    }

    /** Goes on with one node whose snapshot is here. */
    void tick(long now) {
        nowMs = now;
        if (nowMs - sharedMs >= Bounds.INDEX_SHARED_MS) {
            sharedMs = nowMs;
            membership.shareIndex();
        }
        for (NodeView node : membership.all()) {
            if (node.comparing()) {
                compare(node);
                return;
            }
        }
    }

    /** What a node has lost may be millions of objects, so it takes part when all of them are forgotten. */
    private void compare(NodeView node) {
        if (stream.compare(node)) {
            joined(node);
        }
    }

    private void joined(NodeView node) {
        counters.add(node.joins() ? Count.NODES_REJOINED : Count.NODES_JOINED);
        outbox.report("node %s joined: incarnation %016x, %d objects, %d of %d bytes used, directory read in %d ms"
                .formatted(
                        node.id,
                        node.peer().incarnation(),
                        node.replicaCount(),
                        node.room.usedBytes(),
                        node.room.capacityBytes(),
                        nowMs - node.connectedMs()));
        takeover.admit(node, nowMs);
    }

    private void answered(NodeView node, CommandAck ack) throws ProtocolViolation {
        NodeStream.checkSeen(ack.seen());
        frees.answered(node, ack);
        upkeep.answered(node, ack);
        if (!ack.accepted() && leadership.leads()) {
            node.saw(ack.seen());
            takeover.fencing().claimed(node, nowMs);
        }
    }

    /** A node shows an object it did not show before. */
    private void committed(NodeView node, StoredObject object) {
        if (serves()) {
            publishes.committed(node, object, nowMs);
        }
        if (serves() && node.usable()) {
            reconciliation.settleLate(object, nowMs);
            reconciliation.giveUpIfPendingFree(object, node, nowMs);
        } else {
            reconciliation.claim(object, nowMs);
        }
    }

    private void tombstoneShown(NodeView node, Tombstones.OfKey tombstone) {
        if ((node.usable() || node.joining()) && serves()) {
            reconciliation.settle(tombstone, nowMs);
        }
    }

    /** Of a storage node the segment stays, which may hold the last copies: it is waited for. */
    private void left(NodeView node) throws ProtocolViolation {
        if (!node.isTransient()) {
            throw new ProtocolViolation("node " + node.id + " says that its memory ends with it, and is not transient");
        }
        whenLeft.accept(node);
    }

    private boolean serves() {
        return leadership.phase() == Leadership.Phase.SERVING;
    }
}
