// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.master.core.Tombstones.Grave;
import dev.kvpool.dataplane.master.core.Tombstones.Marker;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Keeps removals true that not every node could be told of. A tombstone lies on a majority of the expected nodes, and a
 * leader hears at least half of them before it publishes what it found: so whoever leads knows of it. Nodes that lack one,
 * because they were away or have lost their memory, get it again. When every expected and every enrolled node is in view and
 * what the tombstone covers is freed, it is lifted.
 */
final class Burials {
    /**
     * How writing a tombstone ended.
     *
     * @param status OK when a majority keeps it
     * @param begun whether some node may keep it, so that the object must be taken for dead
     */
    record Outcome(Status status, boolean begun) {}

    private final class Burial {
        final Key key;
        final Consumer<Outcome> whenDecided;
        int needed;
        int open;
        int kept;
        boolean uncertain;
        boolean decided;
        Status lastRefusal = Status.UNAVAILABLE;

        Burial(Key key, Consumer<Outcome> whenDecided) {
            this.key = key;
            this.whenDecided = whenDecided;
        }

        void answered(Status status) {
            open--;
            switch (status) {
                case OK -> kept++;
                case UNAVAILABLE, TIMEOUT -> uncertain = true;
                default -> lastRefusal = status;
            }
            if (kept >= needed) {
                decide(new Outcome(Status.OK, true));
            } else if (open == 0) {
                boolean begun = uncertain || kept > 0;
                decide(new Outcome(begun ? Status.UNAVAILABLE : lastRefusal, begun));
            }
        }

        private void decide(Outcome outcome) {
            if (!decided) {
                decided = true;
                burying.remove(key);
                whenDecided.accept(outcome);
            }
        }
    }

    private final Membership membership;
    private final Enrolments enrolments;
    private final LateWrites lateWrites;
    private final Index index;
    private final Tombstones tombstones;
    private final Commands commands;
    private final BuryQueues queues;
    private final Set<Key> burying = new HashSet<>();

    Burials(View view, Orders orders) {
        this.membership = view.membership();
        this.enrolments = orders.enrolments();
        this.lateWrites = orders.lateWrites();
        this.index = view.index();
        this.tombstones = view.tombstones();
        this.commands = orders.commands();
        this.queues = new BuryQueues(commands);
    }

    boolean isBurying(Key key) {
        return burying.contains(key);
    }

    /** How many are being written. */
    int underWay() {
        return burying.size();
    }

    boolean isFull() {
        return burying.size() >= Bounds.BURIALS_MAX;
    }

    /**
     * Writes a tombstone to every expected node in view, which must be a majority of them, and one at a time for a key.
     *
     * @param whenDecided told once, as soon as a majority keeps it or no majority can
     */
    void bury(Key key, ObjectId upTo, Consumer<Outcome> whenDecided) {
        Burial burial = new Burial(key, whenDecided);
        burying.add(key);
        List<NodeView> nodes = membership.expectedInView();
        burial.needed = membership.majority();
        burial.open = nodes.size();
        for (NodeView node : nodes) {
            queues.add(node, upTo, key, burial::answered);
        }
        if (nodes.isEmpty()) {
            burial.decide(new Outcome(Status.OK, true));
        }
    }

    /** Sends what is queued, as far as the bound on requests under way allows. */
    void send(Authority authority, long nowMs) {
        queues.send(authority, nowMs);
    }

    void abandon(NodeView node) {
        queues.abandon(node);
    }

    /** Looks after a bounded number of tombstones. */
    void tick(Authority authority, long nowMs) {
        List<Marker> needless = new ArrayList<>();
        boolean allInView = enrolments.isAllInView();
        int visits = Math.min(tombstones.size(), Bounds.GRAVES_PER_TICK);
        for (int i = 0; i < visits; i++) {
            Grave grave = tombstones.next();
            if (grave != null && !burying.contains(grave.key)) {
                lookAfter(grave, allInView, needless, nowMs);
            }
        }
        free(needless, authority, nowMs);
    }

    private void lookAfter(Grave grave, boolean allInView, List<Marker> needless, long nowMs) {
        boolean mayEnd =
                allInView && !index.remains().has(grave.key, grave.upTo()) && !lateWrites.mayCome(grave.key, nowMs);
        for (Marker marker : grave.markers()) {
            boolean outdone = !marker.id.equals(grave.upTo()) && grave.isOn(marker.node);
            if (marker.node.usable && !marker.lifting && (mayEnd || outdone)) {
                needless.add(marker);
            }
        }
        if (!mayEnd) {
            buryAgain(grave, nowMs);
        }
    }

    /** Writes what the grave says to the expected nodes in view that lack it. */
    void buryAgain(Grave grave, long nowMs) {
        if (nowMs < grave.restsUntilMs) {
            return;
        }
        for (NodeView node : membership.expectedInView()) {
            if (!grave.isOn(node) && grave.asked.add(node.id)) {
                queues.add(node, grave.upTo(), grave.key, status -> {
                    // Also after OK: a node that answers without a record to show would be asked at every tick.
                    grave.asked.remove(node.id);
                    grave.restsUntilMs = nowMs + Bounds.BURY_PAUSE_MS;
                });
            }
        }
    }

    /** Takes what is written about a grave from every node in view. */
    void lift(Grave grave, Authority authority, long nowMs) {
        List<Marker> needless = new ArrayList<>(grave.markers());
        needless.removeIf(marker -> marker.lifting || !marker.node.usable);
        free(needless, authority, nowMs);
    }

    private void free(List<Marker> needless, Authority authority, long nowMs) {
        Map<String, List<Marker>> byNode = new TreeMap<>();
        for (Marker marker : needless) {
            marker.lifting = true;
            byNode.computeIfAbsent(marker.node.id, id -> new ArrayList<>()).add(marker);
        }
        for (List<Marker> markers : byNode.values()) {
            List<Extent> extents = new ArrayList<>(markers.size());
            markers.forEach(marker -> extents.add(new Extent(marker.extent, marker.id)));
            commands.send(
                    markers.getFirst().node,
                    requestId -> new Free(requestId, authority, extents),
                    nowMs + Bounds.COMMAND_WAIT_MS,
                    status -> markers.forEach(marker -> marker.lifting = false));
        }
    }
}
