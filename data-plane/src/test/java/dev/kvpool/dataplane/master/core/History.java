// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.ReplicaRef;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** What happened to each key, and what must therefore hold. A value is known by its checksum, which no two puts share. */
final class History {
    private static final class Attempt {
        final Key key;
        final long begunMs;
        ObjectId acknowledged;

        /** When a removal that began after the acknowledgement was acknowledged. */
        long removedMs = Long.MAX_VALUE;

        Attempt(Key key, long begunMs) {
            this.key = key;
            this.begunMs = begunMs;
        }
    }

    private record Extent(String node, ExtentRef ref) {}

    private record Promise(long givenMs, long untilMs) {}

    private final World world;
    private final Map<Integer, Attempt> attempts = new HashMap<>();
    private final Map<Extent, Promise> promises = new HashMap<>();

    /** Until when promises about a key do not count: a removal that need not mind leases was, or may still be, under way. */
    private final Map<Key, Long> forcedMs = new HashMap<>();

    private final List<Key> forcing = new ArrayList<>();
    private final List<Key> removing = new ArrayList<>();
    private final List<Key> uncertain = new ArrayList<>();
    private int lastValue;
    private int reads;
    private int acknowledged;
    private int removals;

    History(World world) {
        this.world = world;
    }

    int acknowledgedPuts() {
        return acknowledged;
    }

    int successfulReads() {
        return reads;
    }

    int acknowledgedRemovals() {
        return removals;
    }

    /** A put begins; the value it writes. */
    int begin(Key key) {
        lastValue++;
        attempts.put(lastValue, new Attempt(key, world.nowMs()));
        return lastValue;
    }

    void acknowledge(int value, ObjectId id) {
        attempts.get(value).acknowledged = id;
        acknowledged++;
    }

    /** A removal of this key is acknowledged; {@code gone} were acknowledged before it began. */
    void removed(Collection<Integer> gone) {
        removals++;
        gone.forEach(value -> attempts.get(value).removedMs = Math.min(attempts.get(value).removedMs, world.nowMs()));
    }

    /** The values of a key that are acknowledged and not removed now. */
    List<Integer> present(Key key) {
        List<Integer> present = new ArrayList<>();
        attempts.forEach((value, attempt) -> {
            if (attempt.key.equals(key) && attempt.acknowledged != null && attempt.removedMs == Long.MAX_VALUE) {
                present.add(value);
            }
        });
        return present;
    }

    /** A read that began at {@code begunMs} returned this value. */
    void read(Key key, int value, long begunMs) {
        reads++;
        Attempt attempt = attempts.get(value);
        check(
                attempt != null && attempt.key.equals(key),
                () -> "key %s read as value %d, which is another key's".formatted(key, value));
        check(attempt.begunMs <= world.nowMs(), () -> "value %d was read before it was put".formatted(value));
        check(attempt.removedMs > begunMs, () -> "value %d of key %s was read after its removal".formatted(value, key));
    }

    /** A master tells a reader where an object is and for how long it may rely on that. */
    void promise(LookupReply reply) {
        for (Found found : reply.objects()) {
            if (found.status() == Status.OK) {
                for (ReplicaRef replica : found.replicas()) {
                    Extent extent = new Extent(reply.nodes().get(replica.node()).nodeId(), replica.extent());
                    promises.put(extent, new Promise(world.nowMs(), world.nowMs() + reply.leaseMs()));
                }
            }
        }
    }

    /** A node frees an extent because a leader said so. */
    void freed(ModelNode node, DirectoryRecord record, Collection<ModelNode> nodes) {
        Promise promise = promises.get(new Extent(node.id, record.extent()));
        boolean isVoid = promise == null || promise.givenMs <= forcedMs.getOrDefault(record.key(), Long.MIN_VALUE);
        check(
                isVoid || promise.untilMs <= world.nowMs(),
                () -> "object %s of key %s was freed on node %s although a reader may use it for %d ms"
                        .formatted(record.objectId(), record.key(), node.id, promise.untilMs - world.nowMs()));
        Attempt attempt = attempts.get(record.payloadCrc());
        boolean mayGo = attempt.acknowledged == null
                || !record.objectId().equals(attempt.acknowledged)
                || attempt.removedMs != Long.MAX_VALUE
                || removing.contains(record.key())
                || isElsewhere(record, nodes);
        check(
                mayGo,
                () -> "acknowledged object %s of key %s was freed on node %s, and no newer one or other replica is left"
                        .formatted(record.objectId(), record.key(), node.id));
    }

    void removalBegins(Key key, boolean force) {
        removing.add(key);
        if (force) {
            forcing.add(key);
            forcedMs.put(key, Long.MAX_VALUE);
        }
    }

    void removalEnds(Key key, boolean force) {
        removing.remove(key);
        if (force) {
            forcing.remove(key);
        }
        if (!forcing.contains(key)) {
            forcedMs.replace(key, world.nowMs());
        }
    }

    private static boolean isElsewhere(DirectoryRecord freed, Collection<ModelNode> nodes) {
        for (ModelNode node : nodes) {
            for (DirectoryRecord record : node.directory()) {
                if (record.key().equals(freed.key()) && record.objectId().compareTo(freed.objectId()) >= 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** When every fault is over and every lease has ended: one object for each key, and nothing acknowledged is lost. */
    void checkAtRest(Collection<ModelNode> nodes, Map<Key, Found> found) {
        Map<Key, ObjectId> kept = new HashMap<>();
        for (ModelNode node : nodes) {
            for (DirectoryRecord record : node.directory()) {
                ObjectId other = kept.putIfAbsent(record.key(), record.objectId());
                check(
                        other == null || other.equals(record.objectId()),
                        () -> "key %s is kept as %s and as %s".formatted(record.key(), other, record.objectId()));
            }
        }
        found.forEach((key, object) -> {
            if (!present(key).isEmpty() && !hadUncertainRemoval(key)) {
                check(
                        object.status() == Status.OK,
                        () -> "key %s was acknowledged and is %s".formatted(key, object.status()));
            }
            if (object.status() == Status.OK) {
                check(
                        object.objectId().equals(kept.get(key)),
                        () -> "key %s is published as %s and kept as %s"
                                .formatted(key, object.objectId(), kept.get(key)));
            }
        });
    }

    /** A removal ended without an answer: the object may be there or not. */
    void removalUncertain(Key key) {
        uncertain.add(key);
    }

    private boolean hadUncertainRemoval(Key key) {
        return uncertain.contains(key);
    }

    private static void check(boolean holds, Supplier<String> otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise.get());
        }
    }
}
