// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.replication;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.command.Commands;
import dev.kvpool.dataplane.master.core.command.LateWrites;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Standings;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeCommand.Copy;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Medium;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * Carries out copies from node to node, for repair and drain alike: a bounded number, a bounded number of bytes and a bounded
 * rate at each node, so that readers and writers hardly notice.
 */
public final class Copies {
    /** What a node sends and fetches now. */
    private static final class Traffic {
        int copies;
        long bytes;

        /** Bytes it may begin with; below zero when it is ahead of its rate. */
        double tokens;
    }

    /** Told when a copy has ended. */
    interface Listener {
        void copied(String source, String target, long bytes, boolean done);
    }

    private final CurrentRules rules;
    private final Index index;
    private final Commands commands;
    private final LateWrites lateWrites;
    private final Standings standings;
    private final Counters counters;
    private final Map<String, Traffic> traffic = new TreeMap<>();
    private final Map<StoredObject.Name, List<Runnable>> underWay = new HashMap<>();

    /** Those of them that go to an SSD, by key; also when the object was given up meanwhile, and is in no directory. */
    private final Map<Key, Set<StoredObject.Name>> demoting = new HashMap<>();

    /** Holders that an object could not be read from, and until when it is not tried again. */
    private record Unreadable(Set<String> holders, long untilMs) {}

    /** The eldest first; until the map is full or the term ends. */
    private final Map<StoredObject.Name, Unreadable> unreadable = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<StoredObject.Name, Unreadable> eldest) {
            return size() > Bounds.UNREADABLE_MAX;
        }
    };

    private long refilledMs = Long.MIN_VALUE;
    private long bytesUnderWay;
    private long nowMs;

    public Copies(CurrentRules rules, Index index, Orders orders, Standings standings, Counters counters) {
        this.rules = rules;
        this.index = index;
        this.commands = orders.commands();
        this.lateWrites = orders.lateWrites();
        this.standings = standings;
        this.counters = counters;
    }

    public boolean isUnderWay(StoredObject.Name object) {
        return underWay.containsKey(object);
    }

    /** An object of a key, of this id or a lower one, that a node is writing to its SSD; null when there is none. */
    public StoredObject.Name demoting(Key key, ObjectId upTo) {
        for (StoredObject.Name object : demoting.getOrDefault(key, Set.of())) {
            if (!object.id().isNewerThan(upTo)) {
                return object;
            }
        }
        return null;
    }

    public int countUnderWay() {
        return underWay.size();
    }

    public long bytesUnderWay() {
        return bytesUnderWay;
    }

    /** Runs something when no copy of an object is under way, at once when there is none. */
    public void afterwards(StoredObject.Name object, Runnable task) {
        List<Runnable> tasks = underWay.get(object);
        if (tasks == null) {
            task.run();
        } else {
            tasks.add(task);
        }
    }

    /** Bytes that may be sent to, or fetched from, a node now. One object of any size may, when nothing else is under way. */
    long budget(NodeView node) {
        Traffic now = traffic(node.id);
        if (now.tokens <= 0 || now.copies >= Bounds.COPIES_PER_NODE_MAX) {
            return 0;
        }
        return now.copies == 0 ? Long.MAX_VALUE : Bounds.COPY_BYTES_PER_NODE_MAX - now.bytes;
    }

    Set<String> unreadableAt(StoredObject.Name object) {
        Unreadable known = unreadable.get(object);
        return known == null ? Set.of() : known.holders;
    }

    /** A holder whose bytes are damaged finds that out by itself; others had bytes that changed on the way, and can be read again. */
    private void forgiveUnreadable() {
        Iterator<Unreadable> eldestFirst = unreadable.values().iterator();
        while (eldestFirst.hasNext() && eldestFirst.next().untilMs <= nowMs) {
            eldestFirst.remove();
        }
    }

    public void tick(long now) {
        nowMs = now;
        forgiveUnreadable();
        double elapsedMs = refilledMs == Long.MIN_VALUE ? 0 : now - refilledMs;
        refilledMs = now;
        double burst = burstBytes();
        for (Traffic node : traffic.values()) {
            node.tokens = Math.min(burst, node.tokens + rules.repairBytesPerSecond() * elapsedMs / 1000);
        }
    }

    /** Copies one object into the memory of a node, which must have none of it there. */
    void start(Replica replica, NodeView target, Authority authority, Listener listener) {
        NodeView source = replica.node();
        StoredObject object = replica.object();
        StoredObject.Name name = object.name();
        long bytes = replica.extentBytes();
        begin(traffic(source.id), bytes);
        begin(traffic(target.id), bytes);
        // Room is set aside as for a put.
        target.room.setAside(bytes);
        bytesUnderWay += bytes;
        underWay.put(name, new ArrayList<>(1));
        index.copying(object, target);
        counters.add(Count.COPIES_STARTED);
        command(
                replica,
                target,
                Medium.DRAM,
                authority,
                status -> ended(name, source, target, bytes, status, listener));
    }

    private void command(
            Replica replica, NodeView target, Medium medium, Authority authority, Consumer<Status> whenDone) {
        NodeView source = replica.node();
        StoredObject object = replica.object();
        Key key = object.key();
        long latestMs = nowMs + Bounds.copyMs(object.payloadLength());
        commands.send(
                target,
                requestId -> new Copy(
                        requestId,
                        authority,
                        object.id(),
                        object.payloadLength(),
                        object.payloadCrc(),
                        object.retention(),
                        source.peer().incarnation(),
                        replica.extent(),
                        medium,
                        key,
                        source.info().tcp(),
                        source.id,
                        source.isTransient()),
                nowMs + Bounds.COPY_WAIT_MS,
                status -> {
                    if (status == Status.TIMEOUT || status == Status.UNAVAILABLE) {
                        lateWrites.expect(key, List.of(target), latestMs);
                    }
                    whenDone.accept(status);
                });
    }

    private void ended(
            StoredObject.Name object, NodeView source, NodeView target, long bytes, Status status, Listener listener) {
        end(traffic(source.id), bytes);
        end(traffic(target.id), bytes);
        target.room.giveBack(bytes);
        bytesUnderWay -= bytes;
        boolean done = status == Status.OK || status == Status.EXISTS;
        if (done) {
            counters.add(Count.COPIES_DONE);
            counters.add(Count.COPIED_BYTES, bytes);
        } else {
            failed(object, source, status);
        }
        if (status != Status.UNAVAILABLE) {
            index.copied(object, target);
        } // else the target has not told: it may have made the copy, and its next snapshot says whether it has
        listener.copied(source.id, target.id, bytes, done);
        underWay.remove(object).forEach(Runnable::run);
    }

    /** Copies one object from the memory of its node to the SSD there; no copy of it may be under way. */
    public void demote(Replica replica, Authority authority, BiConsumer<StoredObject.Name, Status> whenDone) {
        NodeView node = replica.node();
        StoredObject object = replica.object();
        StoredObject.Name name = object.name();
        long bytes = replica.extentBytes();
        long ssdBytes = ExtentSize.onSsd(object.payloadLength());
        node.ssd.demoting(bytes, ssdBytes);
        underWay.put(name, new ArrayList<>(1));
        Key key = object.key();
        demoting.computeIfAbsent(key, it -> new HashSet<>(2)).add(name);
        command(replica, node, Medium.SSD, authority, status -> {
            node.ssd.demoted(bytes, ssdBytes);
            demoting.computeIfPresent(key, (same, names) -> names.remove(name) && names.isEmpty() ? null : names);
            List<Runnable> tasks = underWay.remove(name);
            whenDone.accept(name, status);
            tasks.forEach(Runnable::run);
        });
    }

    private void failed(StoredObject.Name object, NodeView source, Status status) {
        switch (status) {
            case CHECKSUM, NOT_FOUND -> {
                counters.add(status == Status.CHECKSUM ? Count.COPIES_DAMAGED : Count.COPIES_GONE);
                unreadable
                        .computeIfAbsent(object, it -> new Unreadable(new HashSet<>(2), nowMs + Bounds.UNREADABLE_MS))
                        .holders
                        .add(source.id);
            }
            case CONNECT_FAILED, TRANSFER_FAILED, IDENTITY_MISMATCH, PROTOCOL, VERSION_MISMATCH, TIMEOUT -> {
                counters.add(Count.COPIES_FAILED);
                standings.transferFailed(source, nowMs);
            }
            default -> counters.add(Count.COPIES_FAILED);
        }
    }

    public void endTerm() {
        index.forgetCopies();
        unreadable.clear();
    }

    private static void begin(Traffic node, long bytes) {
        node.copies++;
        node.bytes += bytes;
        node.tokens -= bytes;
    }

    private static void end(Traffic node, long bytes) {
        node.copies--;
        node.bytes -= bytes;
    }

    private Traffic traffic(String node) {
        return traffic.computeIfAbsent(node, id -> {
            Traffic fresh = new Traffic();
            fresh.tokens = burstBytes();
            return fresh;
        });
    }

    private double burstBytes() {
        return rules.repairBytesPerSecond() / 10.0;
    }
}
