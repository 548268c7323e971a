// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import java.util.ArrayList;
import java.util.List;

/**
 * One object as the streams of the nodes show it. Good for the turn it was asked for in: whoever comes back to an object
 * later keeps its id and asks the {@link Index} again. Two of them are compared with equals, never with ==.
 */
final class StoredObject {
    /** What the leader has decided about an object. */
    enum Fate {
        /** Seen in a node's stream; a standby decides nothing, a leader waits for the publish. */
        UNSETTLED,
        /** Readable under its key. */
        PUBLISHED,
        /** Evicted, removed, superseded or never published: every extent of it is freed as soon as its node can be told. */
        DOOMED
    }

    private final ObjectId id;
    private final Key key;
    private final long payloadLength;
    private final int payloadCrc;
    private final Retention retention;
    private final List<Replica> replicas = new ArrayList<>(1);
    private Fate fate = Fate.UNSETTLED;
    private long leaseUntilMs = Long.MIN_VALUE;
    private int usableReplicas;
    private int wanted = 1;

    /** Neighbours in {@link Recency}. */
    StoredObject colder;

    StoredObject warmer;

    /** Told of by a line of a directory. */
    StoredObject(DirectoryRecord line) {
        this.id = line.objectId();
        this.key = line.key();
        this.payloadLength = line.payloadLength();
        this.payloadCrc = line.payloadCrc();
        this.retention = line.retention();
    }

    ObjectId id() {
        return id;
    }

    Key key() {
        return key;
    }

    boolean hasKey(Key other) {
        return key.equals(other);
    }

    long payloadLength() {
        return payloadLength;
    }

    int payloadCrc() {
        return payloadCrc;
    }

    /** What keeps it from being evicted, as its put said. */
    Retention retention() {
        return retention;
    }

    Fate fate() {
        return fate;
    }

    /** The extents that hold it, on usable nodes and others; must not change while it is walked. */
    Iterable<Replica> replicas() {
        return replicas;
    }

    int replicaCount() {
        return replicas.size();
    }

    /** How many of its replicas lie on usable nodes. */
    int usableReplicas() {
        return usableReplicas;
    }

    /** How many copies it should have; 1 until it is published. */
    int wanted() {
        return wanted;
    }

    boolean isAvailable() {
        return usableReplicas > 0;
    }

    boolean isOn(NodeView node) {
        for (Replica replica : replicas) {
            if (replica.node() == node) {
                return true;
            }
        }
        return false;
    }

    /** When the last lease ends; {@link Long#MIN_VALUE} when there never was one. */
    long leaseUntilMs() {
        return leaseUntilMs;
    }

    boolean isLeased(long nowMs) {
        return leaseUntilMs > nowMs;
    }

    /** Whether a line of a directory tells of the same content under the same key. */
    boolean agreesWith(DirectoryRecord line) {
        return payloadLength == line.payloadLength() && payloadCrc == line.payloadCrc() && hasKey(line.key());
    }

    // ---- changed by the Index alone -----------------------------------------------------------------------------

    void fate(Fate decided) {
        fate = decided;
    }

    void lease(long untilMs) {
        leaseUntilMs = Math.max(leaseUntilMs, untilMs);
    }

    void wanted(int copies) {
        wanted = copies;
    }

    void add(Replica replica) {
        replicas.add(replica);
    }

    void remove(Replica replica) {
        replicas.remove(replica);
    }

    void countUsable(int change) {
        usableReplicas += change;
    }
}
