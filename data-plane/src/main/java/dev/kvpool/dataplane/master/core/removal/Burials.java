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
import dev.kvpool.dataplane.master.core.index.Tombstones.Grave;
import dev.kvpool.dataplane.master.core.index.Tombstones.Marker;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.register.Members;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
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
 * something may still turn up. When nobody is behind, every member is in view and what it covers is freed, it is lifted.
 */
public final class Burials {
    private static final long CHECK_MS = 100;

    /**
     * How writing a tombstone ended.
     *
     * @param status OK when whoever leads next will know of it
     * @param begun whether some node may keep it, so that the object must be taken for dead
     */
    record Outcome(Status status, boolean begun) {}

    private final class Burial {
        final Key key;
        final ObjectId upTo;
        final Set<String> where = new TreeSet<>();
        final long untilMs;
        final Consumer<Outcome> whenDecided;
        final Set<String> asked = new HashSet<>();
        final Set<String> kept = new HashSet<>();
        final List<Runnable> followers = new ArrayList<>(0);
        boolean begun;
        boolean decided;

        Burial(Key key, ObjectId upTo, long untilMs, Consumer<Outcome> whenDecided) {
            this.key = key;
            this.upTo = upTo;
            this.untilMs = untilMs;
            this.whenDecided = whenDecided;
        }

        void decide(Status status) {
            if (!decided) {
                decided = true;
                burying.remove(key, this);
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
    private final BuryQueues queues;
    private final Map<Key, Burial> burying = new LinkedHashMap<>();
    private long checkedMs = Long.MIN_VALUE;
    private boolean awaitingRegister;

    public Burials(View view, Orders orders) {
        this.membership = view.membership();
        this.members = orders.members();
        this.absences = orders.absences();
        this.register = orders.register();
        this.lateWrites = orders.lateWrites();
        this.index = view.index();
        this.tombstones = view.tombstones();
        this.commands = orders.commands();
        this.queues = new BuryQueues(commands);
    }

    boolean isBurying(Key key) {
        return burying.containsKey(key);
    }

    /** How many are being written. */
    int underWay() {
        return burying.size();
    }

    boolean isFull() {
        return burying.size() >= Bounds.BURIALS_MAX;
    }

    /**
     * Writes a tombstone, one after the other of a key.
     *
     * @param where nodes in view that have to keep it, apart from those that witness what nodes away miss
     * @param whenDecided told once
     */
    void bury(Key key, ObjectId upTo, Collection<NodeView> where, long nowMs, Consumer<Outcome> whenDecided) {
        Burial before = burying.get(key);
        if (before != null) {
            List<NodeView> nodes = List.copyOf(where);
            before.followers.add(() -> bury(key, upTo, nodes, nowMs, whenDecided));
            return;
        }
        Burial burial = new Burial(key, upTo, nowMs + Bounds.COMMAND_WAIT_MS, whenDecided);
        where.forEach(node -> burial.where.add(node.id));
        burying.put(key, burial);
        check(burial);
    }

    private void check(Burial burial) {
        if (burial.decided) {
            return;
        }
        burial.where.removeIf(id -> !isUsable(id)); // it is behind from now on, or has lost what it had
        if (!absences.isPrepared()) {
            if (absences.isPossible()) {
                awaitRegister();
            } else {
                burial.decide(Status.UNAVAILABLE);
            }
            return;
        }
        boolean open = false;
        for (String id : keepers(burial)) {
            if (burial.kept.contains(id)) {
                continue;
            }
            open = true;
            if (isUsable(id) && burial.asked.add(id)) {
                burial.begun = true;
                queues.add(membership.node(id), burial.upTo, burial.key, status -> answered(burial, id, status));
            }
        }
        if (!open) {
            burial.decide(Status.OK);
        }
    }

    /** Nodes of which each must have it. Where it is for nobody in particular, one is enough for this leader to see it. */
    private Set<String> keepers(Burial burial) {
        Set<String> keepers = new TreeSet<>(burial.where);
        if (!absences.isNobodyBehind()) {
            keepers.addAll(absences.witnesses());
        }
        if (keepers.isEmpty()) {
            membership.usable().stream().findFirst().ifPresent(node -> keepers.add(node.id));
        }
        return keepers;
    }

    private boolean isUsable(String id) {
        NodeView node = membership.node(id);
        return node != null && node.usable();
    }

    private void answered(Burial burial, String id, Status status) {
        burial.asked.remove(id);
        if (status == Status.OK) {
            burial.kept.add(id);
        } else if (isUsable(id) && absences.witnesses().contains(id) && !burial.where.contains(id)) {
            absences.strikeOff(id);
            if (register.wanted().members().containsKey(id)
                    && register.wanted().members().get(id).isWitness()) {
                burial.decide(status); // the only one
            } else {
                burial.asked.add(id); // it is not asked again, and soon need not be
                awaitRegister();
            }
        } else if (isUsable(id)) {
            burial.decide(status == Status.TIMEOUT ? Status.UNAVAILABLE : status);
        }
        check(burial);
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
        List.copyOf(burying.values()).forEach(this::check);
    }

    /** Sends what is queued, as far as the bound on requests under way allows. */
    public void send(Authority authority, long nowMs) {
        queues.send(authority, nowMs);
    }

    public void abandon(NodeView node) {
        queues.abandon(node);
    }

    public void endTerm() {
        burying.clear();
        awaitingRegister = false;
        checkedMs = Long.MIN_VALUE;
    }

    /** Looks after a bounded number of tombstones. */
    public void tick(Authority authority, long nowMs) {
        if (nowMs - CHECK_MS >= checkedMs) {
            checkedMs = nowMs;
            for (Burial burial : List.copyOf(burying.values())) {
                if (nowMs >= burial.untilMs) {
                    burial.decide(Status.UNAVAILABLE);
                }
                check(burial);
            }
        }
        List<Marker> needless = new ArrayList<>();
        boolean over = absences.isNobodyBehind() && members.isAllInView();
        int visits = Math.min(tombstones.size(), Bounds.GRAVES_PER_TICK);
        for (int i = 0; i < visits; i++) {
            Grave grave = tombstones.next();
            if (grave != null && !burying.containsKey(grave.key)) {
                lookAfter(grave, over, needless, nowMs);
            }
        }
        free(needless, authority, nowMs);
    }

    private void lookAfter(Grave grave, boolean over, List<Marker> needless, long nowMs) {
        boolean mayEnd = over && !index.remains().has(grave.key, grave.upTo()) && !lateWrites.mayCome(grave.key, nowMs);
        if (mayEnd) {
            tombstones.forgetLost(grave);
        }
        for (Marker marker : grave.markers()) {
            boolean outdone = !marker.id.equals(grave.upTo()) && grave.isOn(marker.node);
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
        for (Grave grave : tombstones.all()) {
            if (grave.isOn(node)) {
                continue;
            }
            complete = false;
            if (asked < Bounds.GRAVES_OF_NODE_PER_TICK && grave.asked.add(node.id)) {
                asked++;
                queues.add(node, grave.upTo(), grave.key, status -> grave.asked.remove(node.id));
            }
        }
        return complete;
    }

    /** Whether nothing is left on a node, or may still come there, that a tombstone covers. */
    boolean isClean(NodeView node, long nowMs) {
        for (Grave grave : tombstones.all()) {
            if (lateWrites.mayCome(grave.key, nowMs)) {
                return false;
            }
            for (ObjectId id : index.remains().of(grave.key)) {
                StoredObject object =
                        grave.upTo().isNewerThan(id) || grave.upTo().equals(id) ? index.object(id) : null;
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
