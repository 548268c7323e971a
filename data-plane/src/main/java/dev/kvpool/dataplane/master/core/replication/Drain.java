// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.replication;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.register.DrainEntry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One node that is to leave, and how far its emptying is; kept by {@link Drains}. */
final class Drain {
    /** What could not be moved yet, and why. */
    private record Reason(String tier, String why) {}

    private static final class Tally {
        private long objects;
        private long bytes;
    }

    final String node;
    final long incarnation;
    final long startedAtMs;
    final long untilMs;

    /** Nothing is to be left on the node, not even what others have too: its segment must be empty when it goes. */
    final boolean clears;

    private DrainStatus.State state = DrainStatus.State.DRAINING;
    private Map<Reason, Tally> left = new LinkedHashMap<>();
    private Map<Reason, Tally> counting = new LinkedHashMap<>();
    private boolean counted;
    private long objectsMoved;
    private long bytesMoved;

    /** What had been moved when what is left was counted last: a pass over many objects takes long, and what is moved meanwhile counts. */
    private long objectsMovedBefore;

    private long bytesMovedBefore;

    /** The node has left, and another process has come in its place: nobody need see this any more. */
    private boolean past;

    /** Until then readers may have been told to read there before the drain began; of later ones {@link NodeView} knows. */
    long namedUntilMs;

    /** When the register was told of it last; kept by {@link DrainEntries}. */
    long writtenMs = Long.MIN_VALUE;

    Drain(String node, long incarnation, long startedAtMs, long untilMs, boolean clears) {
        this.node = node;
        this.clears = clears;
        this.incarnation = incarnation;
        this.startedAtMs = startedAtMs;
        this.untilMs = untilMs;
    }

    /**
     * As it was under another leader. What is left has to be counted anew, also of one that was done: this leader may have
     * put something there before it heard of it.
     */
    static Drain resumed(String node, DrainEntry entry, long nowMs) {
        boolean done = entry.stage() == DrainEntry.Stage.DRAINED;
        long leftMs = done ? Math.max(entry.leftMs(), Bounds.DRAINED_CHECK_MS) : entry.leftMs();
        Drain drain = new Drain(node, entry.incarnation(), entry.startedAtMs(), nowMs + leftMs, entry.clears());
        drain.objectsMoved = entry.objectsMoved();
        drain.bytesMoved = entry.bytesMoved();
        drain.state =
                entry.stage() == DrainEntry.Stage.TIMED_OUT ? DrainStatus.State.TIMED_OUT : DrainStatus.State.DRAINING;
        drain.writtenMs = nowMs;
        return drain;
    }

    DrainStatus.State state() {
        return state;
    }

    boolean isActive() {
        return state == DrainStatus.State.DRAINING;
    }

    /** Whether the node takes nothing new. */
    boolean isHolding() {
        return !past && state != DrainStatus.State.CANCELLED;
    }

    boolean isPast() {
        return past;
    }

    void become(DrainStatus.State now) {
        state = now;
    }

    void pass() {
        past = true;
    }

    /** Until a pass has counted, all that the node holds may be left. */
    void notLookedAt(NodeView view) {
        Tally everything = left.computeIfAbsent(new Reason("", "not looked at yet"), it -> new Tally());
        everything.objects = view.replicaCount();
        everything.bytes = view.room.usedBytes();
        countsFromHere();
    }

    void passBegins() {
        counting = new LinkedHashMap<>();
        counted = true;
    }

    /** One that began during a pass has not been counted from its start. */
    boolean passEnded() {
        if (counted) {
            left = counting;
            countsFromHere();
        }
        return counted;
    }

    private void countsFromHere() {
        objectsMovedBefore = objectsMoved;
        bytesMovedBefore = bytesMoved;
    }

    void isLeft(String tier, String why, long bytes) {
        Tally tally = counting.computeIfAbsent(new Reason(tier, why), reason -> new Tally());
        tally.objects++;
        tally.bytes += bytes;
    }

    boolean isAnythingLeft() {
        return !left.isEmpty();
    }

    void moved(long bytes) {
        objectsMoved++;
        bytesMoved += bytes;
    }

    /** As the next leader has to know it; of one that is not cancelled. */
    DrainEntry entry(long nowMs) {
        return new DrainEntry(
                DrainEntry.Stage.valueOf(state.name()),
                incarnation,
                startedAtMs,
                Math.max(0, untilMs - nowMs),
                objectsMoved,
                bytesMoved,
                clears);
    }

    DrainStatus status() {
        List<DrainStatus.Leftover> leftovers = new ArrayList<>();
        left.forEach((reason, tally) ->
                leftovers.add(new DrainStatus.Leftover(reason.tier, tally.objects, tally.bytes, reason.why)));
        long objects =
                leftovers.stream().mapToLong(DrainStatus.Leftover::objects).sum() - (objectsMoved - objectsMovedBefore);
        long bytes = leftovers.stream().mapToLong(DrainStatus.Leftover::bytes).sum() - (bytesMoved - bytesMovedBefore);
        return new DrainStatus(
                node,
                state,
                startedAtMs,
                Math.max(0, objects),
                Math.max(0, bytes),
                objectsMoved,
                bytesMoved,
                leftovers);
    }
}
