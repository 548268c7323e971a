// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.command.Commands;
import dev.kvpool.dataplane.master.core.command.LateWrites;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import dev.kvpool.dataplane.master.core.index.Tombstones.Marker;
import dev.kvpool.dataplane.master.core.index.Tombstones.OfKey;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.master.core.replication.Copies;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Keeps removals true that not every node could be told of. A tombstone is kept by every witness of the register, and the nodes that it
 * is for stand there as behind: so whoever leads knows of it, or knows what not to believe. It is kept, too, by nodes in view on which
 * something may still turn up: in their memory, so before it counts, what it covers is cleared from their SSDs, which a new memory
 * believes. When nobody is behind, every member is in view and what it covers is freed, it is lifted.
 */
public final class TombstoneWriter {
    private static final long CHECK_MS = 100;

    /**
     * How writing a tombstone ended.
     *
     * @param status OK when whoever leads next will know of it
     * @param begun whether some node may keep it, so that the object must be taken for dead
     */
    record Outcome(Status status, boolean begun) {}

    private final class Write {
        final Key key;
        final ObjectId upTo;
        final SsdClearing.When fromSsds;
        final Set<String> where = new TreeSet<>();
        final long untilMs;
        final Consumer<Outcome> whenDecided;
        final Set<String> asked = new HashSet<>();
        final Set<String> kept = new HashSet<>();
        final List<Runnable> followers = new ArrayList<>(0);
        boolean begun;
        boolean decided;

        /** What it covers is being cleared from SSDs. */
        boolean clearing;

        Write(Key key, ObjectId upTo, SsdClearing.When fromSsds, long untilMs, Consumer<Outcome> whenDecided) {
            this.key = key;
            this.upTo = upTo;
            this.fromSsds = fromSsds;
            this.untilMs = untilMs;
            this.whenDecided = whenDecided;
        }

        void decide(Status status) {
            if (!decided) {
                decided = true;
                writing.remove(key, this);
                whenDecided.accept(new Outcome(status, begun));
                followers.forEach(Runnable::run);
            }
        }
    }

    private final Membership membership;
    private final Members members;
    private final Absences absences;
    private final LateWrites lateWrites;
    private final Index index;
    private final Tombstones tombstones;
    private final Commands commands;
    private final RegisterKeeper register;
    private final TombstoneQueues queues;
    private final SsdClearing ssdClearing;
    private final Map<Key, Write> writing = new LinkedHashMap<>();
    private long checkedMs = Long.MIN_VALUE;
    private boolean awaitingRegister;

    public TombstoneWriter(View view, Orders orders, Copies copies) {
        this.membership = view.membership();
        this.members = orders.members();
        this.absences = orders.absences();
        this.register = orders.register();
        this.lateWrites = orders.lateWrites();
        this.index = view.index();
        this.tombstones = view.tombstones();
        this.commands = orders.commands();
        this.queues = new TombstoneQueues(commands);
        this.ssdClearing = new SsdClearing(index, orders.frees(), copies);
    }

    boolean isWriting(Key key) {
        return writing.containsKey(key);
    }

    /** Runs something when the tombstone of a key that is being written is decided; false when none is. */
    boolean afterwards(Key key, Runnable task) {
        Write write = writing.get(key);
        return write != null && write.followers.add(task);
    }

    /** How many are being written. */
    int underWay() {
        return writing.size();
    }

    boolean isFull() {
        return writing.size() >= Bounds.TOMBSTONE_WRITES_MAX;
    }

    /** Nodes in view that hold, or may come to hold, an object of a key up to this id. */
    Set<NodeView> holders(Key key, ObjectId upTo, long nowMs) {
        Set<NodeView> holders = new HashSet<>(lateWrites.nodesOf(key, nowMs));
        List<StoredObject> objects = new ArrayList<>();
        index.remains().of(key).forEach(id -> objects.add(index.object(id, key)));
        objects.add(index.published(key)); // a node that was away may have brought it while the removal waited
        for (StoredObject object : objects) {
            if (object != null && !object.id().isNewerThan(upTo)) {
                object.replicas().forEach(replica -> holders.add(replica.node()));
            }
        }
        holders.removeIf(node -> !node.usable());
        return holders;
    }

    /**
     * Writes a tombstone, one after the other of a key.
     *
     * @param where nodes in view that have to keep it, apart from those that witness what nodes away miss
     * @param fromSsds when what it covers has to be cleared from SSDs
     * @param whenDecided told once
     */
    void write(
            Key key,
            ObjectId upTo,
            Collection<NodeView> where,
            SsdClearing.When fromSsds,
            long nowMs,
            Consumer<Outcome> whenDecided) {
        Write before = writing.get(key);
        if (before != null) {
            List<NodeView> nodes = List.copyOf(where);
            before.followers.add(() -> write(key, upTo, nodes, fromSsds, nowMs, whenDecided));
            return;
        }
        Write write = new Write(key, upTo, fromSsds, nowMs + Bounds.COMMAND_WAIT_MS, whenDecided);
        where.forEach(node -> write.where.add(node.id));
        writing.put(key, write);
        check(write);
    }

    private void check(Write write) {
        if (write.decided) {
            return;
        }
        write.where.removeIf(id -> !isUsable(id)); // it is behind from now on, or has lost what it had
        if (!absences.isPrepared()) {
            if (absences.isPossible()) {
                awaitRegister();
            } else {
                write.decide(Status.UNAVAILABLE);
            }
            return;
        }
        boolean open = false;
        for (String id : keepers(write)) {
            if (write.kept.contains(id)) {
                continue;
            }
            open = true;
            if (isUsable(id) && write.asked.add(id)) {
                write.begun = true;
                queues.add(membership.node(id), write.upTo, write.key, status -> answered(write, id, status));
            }
        }
        if (!open && !write.clearing && clearSsds(write)) {
            write.decide(Status.OK);
        }
    }

    /** Whether nothing that it covers is left on SSDs of nodes in view; else that is being cleared. */
    private boolean clearSsds(Write write) {
        write.clearing = true;
        boolean isClear = ssdClearing.clear(write.key, write.upTo, write.fromSsds, cleared -> {
            write.clearing = false;
            if (cleared) {
                check(write);
            } // else it is leased, its node is away, or the SSD failed and it leaves the stream: the next tick looks
            // again
        });
        return isClear;
    }

    /** Nodes of which each must have it. Where it is for nobody in particular, one is enough for this leader to see it. */
    private Set<String> keepers(Write write) {
        Set<String> keepers = new TreeSet<>(write.where);
        if (!absences.isNobodyBehind()) {
            keepers.addAll(absences.witnesses());
        }
        if (keepers.isEmpty()) {
            membership.usable().stream()
                    .filter(node -> node.mayShow(write.key))
                    .findFirst()
                    .ifPresent(node -> keepers.add(node.id));
        }
        return keepers;
    }

    private boolean isUsable(String id) {
        NodeView node = membership.node(id);
        return node != null && node.usable();
    }

    private void answered(Write write, String id, Status status) {
        write.asked.remove(id);
        if (status == Status.OK) {
            write.kept.add(id);
        } else if (isUsable(id) && absences.witnesses().contains(id) && !write.where.contains(id)) {
            absences.strikeOff(id);
            if (register.wanted().members().containsKey(id)
                    && register.wanted().members().get(id).isWitness()) {
                write.decide(status); // the only one
            } else {
                write.asked.add(id); // it is not asked again, and soon need not be
                awaitRegister();
            }
        } else if (isUsable(id)) {
            write.decide(status == Status.TIMEOUT ? Status.UNAVAILABLE : status);
        }
        check(write);
    }

    private void awaitRegister() {
        if (!awaitingRegister && !register.isSure(it -> it.saysTheSame(register.wanted()))) {
            awaitingRegister = true;
            Runnable again = () -> {
                awaitingRegister = false;
                checkAll();
            };
            register.whenSure(it -> it.saysTheSame(register.wanted()), again);
        }
    }

    private void checkAll() {
        List.copyOf(writing.values()).forEach(this::check);
    }

    /** Sends what is queued, as far as the bound on requests under way allows. */
    public void send(Authority authority, long nowMs) {
        queues.send(authority, nowMs);
    }

    public void abandon(NodeView node) {
        queues.abandon(node);
    }

    public void endTerm() {
        writing.clear();
        awaitingRegister = false;
        checkedMs = Long.MIN_VALUE;
    }

    /** Looks after a bounded number of tombstones. */
    public void tick(Authority authority, long nowMs) {
        if (nowMs - CHECK_MS >= checkedMs) {
            checkedMs = nowMs;
            for (Write write : List.copyOf(writing.values())) {
                if (nowMs >= write.untilMs) {
                    write.decide(Status.UNAVAILABLE);
                }
                check(write);
            }
        }
        List<Marker> needless = new ArrayList<>();
        boolean over = absences.isNobodyBehind() && members.isAllInView();
        int visits = Math.min(tombstones.size(), Bounds.TOMBSTONES_PER_TICK);
        for (int i = 0; i < visits; i++) {
            OfKey tombstone = tombstones.next();
            if (tombstone != null && !writing.containsKey(tombstone.key)) {
                lookAfter(tombstone, over, needless, nowMs);
            }
        }
        free(needless, authority, nowMs);
    }

    /** The register says of all that it covers, and more, that it is gone; no node keeps such a one. */
    private boolean isPurged(OfKey tombstone) {
        ObjectId purgeId = register.stored().purgeId();
        return purgeId.isNewerThan(tombstone.upTo());
    }

    private void lookAfter(OfKey tombstone, boolean over, List<Marker> needless, long nowMs) {
        boolean mayEnd = isPurged(tombstone)
                || (over
                        && !index.remains().has(tombstone.key, tombstone.upTo())
                        && !lateWrites.mayCome(tombstone.key, nowMs));
        if (mayEnd) {
            tombstones.forgetLost(tombstone);
        }
        for (Marker marker : tombstone.markers()) {
            boolean outdone = !marker.id.equals(tombstone.upTo()) && tombstone.isOn(marker.node);
            if (marker.node.usable() && !marker.lifting() && (mayEnd || outdone)) {
                needless.add(marker);
            }
        }
    }

    /**
     * Has a node keep every tombstone there is.
     *
     * @return whether it does
     */
    boolean copyAllTo(NodeView node) {
        int asked = 0;
        boolean complete = true;
        for (OfKey tombstone : tombstones.all()) {
            if (tombstone.isOn(node) || isPurged(tombstone)) {
                continue;
            }
            complete = false;
            if (asked < Bounds.TOMBSTONES_OF_NODE_PER_TICK && tombstone.asked.add(node.id)) {
                asked++;
                queues.add(node, tombstone.upTo(), tombstone.key, status -> tombstone.asked.remove(node.id));
            }
        }
        return complete;
    }

    /** Whether nothing is left on a node, or may still come there, that a tombstone covers. */
    boolean isClean(NodeView node, long nowMs) {
        for (OfKey tombstone : tombstones.all()) {
            if (lateWrites.mayCome(tombstone.key, nowMs)) {
                return false;
            }
            for (ObjectId id : index.remains().of(tombstone.key)) {
                boolean isCovered =
                        tombstone.upTo().isNewerThan(id) || tombstone.upTo().equals(id);
                StoredObject object = isCovered ? index.object(id, tombstone.key) : null;
                if (object != null && object.isOn(node)) {
                    return false;
                }
            }
        }
        return true;
    }

    private void free(List<Marker> needless, Authority authority, long nowMs) {
        Map<String, List<Marker>> byNode = new TreeMap<>();
        for (Marker marker : needless) {
            marker.lifts(true);
            byNode.computeIfAbsent(marker.node.id, id -> new ArrayList<>()).add(marker);
        }
        for (List<Marker> markers : byNode.values()) {
            List<Extent> extents = new ArrayList<>(markers.size());
            markers.forEach(marker -> extents.add(new Extent(marker.extent, marker.id)));
            commands.send(
                    markers.getFirst().node,
                    requestId -> new Free(requestId, authority, extents),
                    nowMs + Bounds.COMMAND_WAIT_MS,
                    status -> markers.forEach(marker -> marker.lifts(false)));
        }
    }
}
