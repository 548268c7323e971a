// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.ExtentRef;
import org.agrona.collections.Long2ObjectHashMap;

/** The replicas of one node by their place in its directory, with their sums. Changed by the {@link Index} alone. */
final class NodeReplicas {
    /** Iterators are not cached: walks over one map may nest. */
    private final Long2ObjectHashMap<Replica> byPlace = new Long2ObjectHashMap<>(16, 0.65f, false);

    private long bytes;
    private long freeingBytes;
    private long freeingSlots;

    /** What lies in the slot of an extent, of whatever generation; null when nothing does. */
    Replica at(ExtentRef extent) {
        return byPlace.get(place(extent));
    }

    Iterable<Replica> all() {
        return byPlace.values();
    }

    long count() {
        return byPlace.size();
    }

    long bytes() {
        return bytes;
    }

    long freeingBytes() {
        return freeingBytes;
    }

    long freeingSlots() {
        return freeingSlots;
    }

    void add(Replica replica) {
        byPlace.put(place(replica.extent()), replica);
        bytes += replica.extentBytes();
    }

    void remove(Replica replica) {
        noLongerFreeing(replica);
        byPlace.remove(place(replica.extent()));
        bytes -= replica.extentBytes();
    }

    void freeing(Replica replica) {
        if (!replica.isFreeing()) {
            replica.freeing(true);
            freeingBytes += replica.extentBytes();
            freeingSlots++;
        }
    }

    void noLongerFreeing(Replica replica) {
        if (replica.isFreeing()) {
            replica.freeing(false);
            freeingBytes -= replica.extentBytes();
            freeingSlots--;
        }
    }

    private static long place(ExtentRef extent) {
        return ((long) extent.segment() << 32) | extent.slot();
    }
}
