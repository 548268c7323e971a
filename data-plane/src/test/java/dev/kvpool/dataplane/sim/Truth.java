// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.SegmentImage.Slot;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Which object each key must show: the newest that a leader has acknowledged or shown, until something happens that may
 * take it away. Told by the masters' answers, checked against the bytes in the segments.
 */
final class Truth {
    /** Who says nothing for 3 s is disconnected, and shows what it has when it connects again. */
    private static final long UNHEARD_MS = 5_000;

    private final World world;
    private final History history;
    private final List<SimNode> nodes = new ArrayList<>();
    private final Map<String, ObjectId> newest = new TreeMap<>();

    /** What keys had to show when a removal began: it stays, or goes by that. */
    private final Map<String, ObjectId> removing = new TreeMap<>();

    private final Set<ObjectId> copied = new HashSet<>();

    /** Objects of which a copy went with its memory or disk, and when: another copy may be on its way out just then. */
    private final Map<ObjectId, Long> copyGoneMs = new HashMap<>();

    private Set<String> members = Set.of();

    /** Keys of objects of which some copy had a wrong byte. */
    private final Set<String> damagedKeys = new HashSet<>();

    private long tamperedMs = Long.MIN_VALUE;

    Truth(World world, History history) {
        this.world = world;
        this.history = history;
    }

    void add(SimNode node) {
        nodes.add(node);
    }

    List<SimNode> nodes() {
        return nodes;
    }

    /** The node with this id now, or null. */
    SimNode node(String id) {
        for (SimNode node : nodes) {
            if (node.nodeId().equals(id)) {
                return node;
            }
        }
        return null;
    }

    /** Somebody changed the Lease behind the masters' backs: for a while there may be two leaders. */
    void tampered() {
        tamperedMs = world.nowMs();
    }

    boolean wasTamperedSince(long ms) {
        return tamperedMs >= ms;
    }

    /** A leader had this object copied: a node may commit it under a later epoch than its own. */
    void copied(ObjectId id) {
        copied.add(id);
    }

    boolean wasCopied(ObjectId id) {
        return copied.contains(id);
    }

    /** A leader says that this object is what the key shows. */
    void shown(String key, ObjectId id) {
        if (!history.isRemovalPossible(key, world.nowMs(), false)) {
            newest.merge(key, id, (before, now) -> now.isNewerThan(before) ? now : before);
        }
    }

    /** The object the key must show, or null when it need not show any. */
    ObjectId mustShow(String key) {
        return newest.get(key);
    }

    /** A removal of it begins. */
    void mayGo(String key) {
        ObjectId must = newest.remove(key);
        if (must != null) {
            removing.put(key, must);
        }
    }

    /** The object that the key had to show when a removal of it began last, unless it was lost or evicted since; or null. */
    ObjectId removing(String key) {
        return removing.get(key);
    }

    void allMayGo(Tenant tenant) {
        newest.keySet().removeIf(key -> tenant.owns(Key.of(key)));
        removing.keySet().removeIf(key -> tenant.owns(Key.of(key)));
    }

    void evicted(String key, boolean marked) {
        newest.remove(key);
        removing.remove(key);
        history.evicted(key, marked);
    }

    void missedUnheard(String key) {
        history.missedUnheard(key);
    }

    boolean wasRegisterLost() {
        return history.wasRegisterLost();
    }

    /** The Lease was deleted while no master lived that had read the latest: it is no longer known what nodes away have missed. */
    void registerLost() {
        history.tombstonesLost();
    }

    /** No node has the object of this key any more. */
    void lost(String key) {
        newest.remove(key);
        removing.remove(key);
        history.mayBeGone(key);
    }

    boolean wasLostSince(String key, long ms) {
        return history.wasLostSince(key, ms);
    }

    /** Also what lies on a node that was taken out, which may have died since the leader put it there. */
    boolean mayHaveGoneSince(String key, long ms) {
        return history.mayHaveGoneSince(key, ms)
                || nodes.stream().anyMatch(node -> node.isOut() && holds(node.held(), key, id -> true));
    }

    /** The node's memory is about to be lost: what no other node has is gone. */
    void memoryLost(SimNode node) {
        lost(node, node.image.committed(), node.heldOnSsd());
    }

    /** The pool is to have the node no more: what it alone holds may be given up, but nothing that it knows of removals. */
    void takenOut(SimNode node) {
        List<Slot> held = node.held();
        for (Slot slot : held) {
            if (!isLeft(node, List.of(), slot.key(), slot.id())) {
                lost(slot.key());
            }
        }
    }

    /** The register has these nodes: others are to drop what they hold when they come. */
    void members(Set<String> ids) {
        Set<String> struckOff = new TreeSet<>(members);
        struckOff.removeAll(ids);
        members = Set.copyOf(ids);
        struckOff.stream().map(this::node).filter(Objects::nonNull).forEach(this::takenOut);
    }

    /** One object of the node has other bytes from now on. */
    void damaged(SimNode node, Slot slot) {
        damagedKeys.add(slot.key());
        lost(node, List.of(slot), List.of());
    }

    /** The same of its SSD. */
    void ssdLost(SimNode node) {
        lost(node, node.heldOnSsd(), node.image.committed());
    }

    /** A put of this key is acknowledged; that it exists says a leader who may not have heard that it was lost. */
    void acknowledged(String key) {
        // Nobody hears of a wrong byte before its node looks at it.
        boolean unheard = damagedKeys.contains(key) || history.wasLostSince(key, world.nowMs() - UNHEARD_MS);
        ObjectId must = newest.get(key);
        if (unheard && (must == null || nodes.stream().noneMatch(node -> holds(node, key, must)))) {
            lost(key);
        }
    }

    /** A copy was freed, as a leader asked who may not have heard that the other one was gone. */
    void freed(Slot slot) {
        Long goneMs = copyGoneMs.get(slot.id());
        boolean unheard = goneMs != null && world.nowMs() - goneMs < UNHEARD_MS;
        // A wrong byte is not noticed before its node looks at it, so that of two copies the good one may go.
        boolean lastGood = damagedKeys.contains(slot.key())
                && slot.id().equals(newest.get(slot.key()))
                && nodes.stream().noneMatch(node -> holds(node, slot.key(), slot.id()));
        if (unheard || lastGood) {
            lost(slot.key());
        }
    }

    private void lost(SimNode node, List<Slot> going, List<Slot> staying) {
        for (Slot slot : going) {
            copyGoneMs.put(slot.id(), world.nowMs());
            ObjectId must = newest.get(slot.key());
            boolean superseded = must != null && must.isNewerThan(slot.id()) && isLeft(node, staying, slot.key(), must);
            if (!superseded && !isLeft(node, staying, slot.key(), slot.id())) {
                lost(slot.key());
            }
        }
    }

    /** Exactly this object: a newer one may be of a put that was never published, and is given up. */
    private boolean isLeft(SimNode node, List<Slot> staying, String key, ObjectId id) {
        return nodes.stream()
                        .anyMatch(other -> other != node && members.contains(other.nodeId()) && holds(other, key, id))
                || holds(staying, key, id::equals);
    }

    /** Keys of which some node holds an object. */
    Set<String> heldKeys() {
        Set<String> keys = new HashSet<>();
        nodes.forEach(node -> node.held().forEach(slot -> keys.add(slot.key())));
        return keys;
    }

    /** Whether a node holds this object of a key. */
    static boolean holds(SimNode node, String key, ObjectId id) {
        return holds(node, key, slot -> slot.equals(id));
    }

    static boolean holds(SimNode node, String key, Predicate<ObjectId> which) {
        return (!node.isOut() || node.isUp()) && holds(node.held(), key, id -> which.test(id) && !node.isDamaged(id));
    }

    private static boolean holds(List<Slot> held, String key, Predicate<ObjectId> which) {
        for (Slot slot : held) {
            if (slot.key().equals(key) && which.test(slot.id())) {
                return true;
            }
        }
        return false;
    }
}
