// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.index.StoredObject.Fate;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What {@link Index} must do, said with the collections of the JDK and without regard to memory. */
final class PlainIndex {
    static final class Plain {
        final DirectoryRecord told;
        final List<PlainReplica> replicas = new ArrayList<>();
        Fate fate = Fate.UNSETTLED;
        long leaseUntilMs = Long.MIN_VALUE;
        int wanted = 1;

        Plain(DirectoryRecord told) {
            this.told = told;
        }

        ObjectId id() {
            return told.objectId();
        }

        int usable() {
            return (int)
                    replicas.stream().filter(replica -> replica.node.usable).count();
        }

        /** A leader counts what it can use, another master what is connected. Two media of a node are one copy. */
        int counted(boolean serving) {
            return (int) replicas.stream()
                    .filter(replica -> serving ? replica.node.usable : replica.node.shown)
                    .filter(replica -> replica.isInMemory() || !isInMemoryOf(replica.node))
                    .count();
        }

        private boolean isInMemoryOf(PlainNode node) {
            return replicas.stream().anyMatch(replica -> replica.node == node && replica.isInMemory());
        }
    }

    static final class PlainReplica {
        final Plain object;
        final PlainNode node;
        final DirectoryRecord line;
        boolean confirmed = true;
        boolean freeing;

        PlainReplica(Plain object, PlainNode node, DirectoryRecord line) {
            this.object = object;
            this.node = node;
            this.line = line;
        }

        boolean isInMemory() {
            return line.extent().segment() == 0;
        }
    }

    static final class PlainNode {
        final Map<Long, PlainReplica> replicas = new HashMap<>();
        boolean usable;
        boolean shown;

        long bytes(boolean inMemory) {
            return replicas.values().stream()
                    .filter(replica -> replica.isInMemory() == inMemory)
                    .mapToLong(replica -> replica.line.extentBytes())
                    .sum();
        }

        long freeingBytes(boolean inMemory) {
            return replicas.values().stream()
                    .filter(replica -> replica.freeing && replica.isInMemory() == inMemory)
                    .mapToLong(replica -> replica.line.extentBytes())
                    .sum();
        }
    }

    final Map<ObjectId, Plain> objects = new HashMap<>();
    final Map<Key, Plain> published = new HashMap<>();

    /** Who was told to copy what, and has not said how that ended. */
    final Map<PlainNode, Set<Plain>> coming = new HashMap<>();

    /** Coldest first. */
    final Map<ObjectId, Plain> recency = new LinkedHashMap<>();

    static long place(ExtentRef extent) {
        return ((long) extent.segment() << 32) | extent.slot();
    }

    Plain commit(PlainNode node, DirectoryRecord line) {
        PlainReplica present = node.replicas.get(place(line.extent()));
        if (present != null) {
            boolean newer = Long.compareUnsigned(
                            line.extent().generation(), present.line.extent().generation())
                    > 0;
            if (present.confirmed && !newer) {
                return null;
            }
            boolean same = present.line.extent().equals(line.extent())
                    && present.line.offset() == line.offset()
                    && present.object.id().equals(line.objectId());
            if (!present.confirmed && same) {
                present.confirmed = true;
                return null;
            }
            remove(present);
        }
        Plain object = objectOf(line);
        PlainReplica replica = new PlainReplica(object, node, line);
        object.replicas.add(replica);
        node.replicas.put(place(line.extent()), replica);
        return object;
    }

    private Plain objectOf(DirectoryRecord line) {
        Plain known = objects.get(line.objectId());
        if (known == null) {
            Plain told = new Plain(line);
            objects.put(told.id(), told);
            return told;
        }
        boolean agrees = known.told.payloadLength() == line.payloadLength()
                && known.told.payloadCrc() == line.payloadCrc()
                && known.told.key().equals(line.key());
        if (agrees) {
            return known;
        }
        Plain twin = new Plain(line);
        twin.fate = Fate.PENDING_FREE;
        return twin;
    }

    void freed(PlainNode node, ExtentRef extent) {
        PlainReplica present = node.replicas.get(place(extent));
        if (present != null && Long.compareUnsigned(present.line.extent().generation(), extent.generation()) <= 0) {
            remove(present);
        }
    }

    void beginSnapshot(PlainNode node) {
        node.shown = true;
        node.replicas.values().forEach(replica -> replica.confirmed = false);
    }

    void dropUnconfirmed(PlainNode node) {
        copied(node);
        for (PlainReplica replica : List.copyOf(node.replicas.values())) {
            if (!replica.confirmed) {
                remove(replica);
            }
        }
    }

    void dropAll(PlainNode node) {
        List.copyOf(node.replicas.values()).forEach(this::remove);
        copied(node);
    }

    void copying(Plain object, PlainNode target) {
        coming.computeIfAbsent(target, node -> new HashSet<>()).add(object);
    }

    void copied(Plain object, PlainNode target) {
        coming.computeIfAbsent(target, node -> new HashSet<>()).remove(object);
        forgetIfNowhere(object);
    }

    void forgetCopies() {
        List.copyOf(coming.keySet()).forEach(this::copied);
    }

    private void copied(PlainNode target) {
        Set<Plain> objects = coming.remove(target);
        if (objects != null) {
            objects.forEach(this::forgetIfNowhere);
        }
    }

    private void remove(PlainReplica replica) {
        replica.node.replicas.remove(place(replica.line.extent()));
        Plain object = replica.object;
        object.replicas.remove(replica);
        forgetIfNowhere(object);
    }

    private void forgetIfNowhere(Plain object) {
        boolean mayCome = coming.values().stream().anyMatch(objects -> objects.contains(object));
        if (object.replicas.isEmpty() && !mayCome) {
            unpublish(object);
            objects.remove(object.id(), object);
        }
    }

    void publish(Plain object, int wanted) {
        object.wanted = wanted;
        object.fate = Fate.PUBLISHED;
        published.put(object.told.key(), object);
        recency.put(object.id(), object);
    }

    void touch(Plain object) {
        recency.remove(object.id());
        recency.put(object.id(), object);
    }

    void doom(Plain object) {
        unpublish(object);
        object.fate = Fate.PENDING_FREE;
    }

    void reconsider() {
        for (Plain object : objects.values()) {
            object.fate = object.fate == Fate.PENDING_FREE ? Fate.UNSETTLED : object.fate;
        }
    }

    private void unpublish(Plain object) {
        if (object.fate == Fate.PUBLISHED) {
            published.remove(object.told.key());
            recency.remove(object.id());
            object.fate = Fate.UNSETTLED;
        }
    }
}
