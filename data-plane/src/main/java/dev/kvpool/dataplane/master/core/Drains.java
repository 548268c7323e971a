// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Nodes that are to leave. A drained node takes nothing new; what only it holds is moved by {@link Repairs}; it may leave
 * when nothing is left that can be moved and no reader has a promise any more that names it. Drains end with the leadership
 * they were asked of: whoever asked sees that they are gone, and asks again.
 */
final class Drains {
    /** What could not be moved yet, and why. */
    private record Reason(String tier, String why) {}

    private static final class Tally {
        long objects;
        long bytes;
    }

    private static final class Drain {
        final String node;
        final long incarnation;
        final long startedAtMs;
        final long untilMs;
        DrainStatus.State state = DrainStatus.State.DRAINING;
        Map<Reason, Tally> left = new LinkedHashMap<>();
        Map<Reason, Tally> counting = new LinkedHashMap<>();
        boolean counted;
        long objectsMoved;
        long bytesMoved;

        /** Until then readers may have been told to read there. */
        long namedUntilMs;

        Drain(NodeView node, long startedAtMs, long untilMs) {
            this.node = node.id;
            this.incarnation = node.peer.incarnation();
            this.startedAtMs = startedAtMs;
            this.untilMs = untilMs;
        }
    }

    private final CoreSettings settings;
    private final Membership membership;
    private final Settlement settlement;
    private final Outbox outbox;
    private final Map<String, Drain> drains = new TreeMap<>();

    Drains(CoreSettings settings, Membership membership, Settlement settlement, Outbox outbox) {
        this.settings = settings;
        this.membership = membership;
        this.settlement = settlement;
        this.outbox = outbox;
    }

    /**
     * Begins, or begins anew, to empty a node. Answers why that is not possible, or nothing.
     *
     * @param startedAtMs what people shall be told as the time it began
     */
    Optional<String> start(String id, long timeoutMs, long startedAtMs, long nowMs) {
        NodeView node = membership.node(id);
        if (node == null || !node.usable) {
            return Optional.of("node " + id + " does not take part now, so nothing can be copied from it");
        }
        if (node.isTransient) {
            return Optional.of("node " + id + " is transient: its memory goes with its process");
        }
        Drain drain = new Drain(node, startedAtMs, nowMs + timeoutMs);
        Tally everything = drain.left.computeIfAbsent(new Reason("", "not looked at yet"), it -> new Tally());
        everything.objects = node.replicaCount();
        everything.bytes = node.usedBytes();
        drain.namedUntilMs = Math.max(nowMs + settings.objectLeaseMs(), settlement.recoveredUntilMs());
        drains.put(id, drain);
        node.leaving = true;
        outbox.report("draining node %s with %d objects, %d ms at most".formatted(id, node.replicaCount(), timeoutMs));
        return Optional.empty();
    }

    /** The node takes part again as before. False when it is not being drained. */
    boolean cancel(String id) {
        Drain drain = drains.get(id);
        if (drain == null || drain.state == DrainStatus.State.CANCELLED) {
            return false;
        }
        end(drain, DrainStatus.State.CANCELLED);
        stay(drain);
        return true;
    }

    /** Whether objects have to be moved. */
    boolean isActive() {
        for (Drain drain : drains.values()) {
            if (drain.state == DrainStatus.State.DRAINING) {
                return true;
            }
        }
        return false;
    }

    Optional<DrainStatus.State> stateOf(NodeView node) {
        Drain drain = node.leaving ? drains.get(node.id) : null;
        return drain == null ? Optional.empty() : Optional.of(drain.state);
    }

    /** A node came back as another process: what was drained has left. */
    void introduced(NodeView node) {
        Drain drain = drains.get(node.id);
        boolean left = drain != null
                && drain.state != DrainStatus.State.DRAINING
                && drain.incarnation != node.peer.incarnation();
        if (left) {
            stay(drain);
            drains.remove(node.id);
        }
    }

    // ---- told by the pass over all objects ------------------------------------------------------------------------

    void passBegins() {
        drains.values().forEach(drain -> {
            drain.counting = new LinkedHashMap<>();
            drain.counted = true;
        });
    }

    /** An object has no replica but this one, which is on a leaving node; nothing happens when it is null. */
    void left(Replica replica, String why) {
        Drain drain = replica == null ? null : drains.get(replica.node().id);
        if (drain != null) {
            String tier = replica.node().tier(replica.extent().segment());
            Tally tally = drain.counting.computeIfAbsent(new Reason(tier, why), reason -> new Tally());
            tally.objects++;
            tally.bytes += replica.extentBytes();
        }
    }

    void moved(String source, long bytes) {
        Drain drain = drains.get(source);
        if (drain != null && drain.state == DrainStatus.State.DRAINING) {
            drain.objectsMoved++;
            drain.bytesMoved += bytes;
        }
    }

    void passEnded(long nowMs) {
        for (Drain drain : drains.values()) {
            // A drain that began during the pass has not been counted from its start.
            if (!drain.counted) {
                continue;
            }
            drain.left = drain.counting;
            if (drain.state == DrainStatus.State.DRAINING) {
                decide(drain, nowMs);
            }
        }
    }

    private void decide(Drain drain, long nowMs) {
        if (!drain.left.isEmpty()) {
            // Until now readers of what is left were sent there.
            drain.namedUntilMs = Math.max(drain.namedUntilMs, nowMs + settings.objectLeaseMs());
            return;
        }
        NodeView node = membership.node(drain.node);
        boolean beingWritten = node != null && node.grantedSlots > 0;
        if (nowMs >= drain.namedUntilMs && !beingWritten) {
            end(drain, DrainStatus.State.DRAINED);
        }
    }

    void tick(long nowMs) {
        for (Drain drain : drains.values()) {
            if (drain.state == DrainStatus.State.DRAINING && nowMs >= drain.untilMs) {
                end(drain, DrainStatus.State.TIMED_OUT);
            }
        }
    }

    void endTerm() {
        drains.values().forEach(this::stay);
        drains.clear();
    }

    private void end(Drain drain, DrainStatus.State state) {
        drain.state = state;
        outbox.report("drain of node %s %s: %d objects moved, %d left"
                .formatted(
                        drain.node,
                        state.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        drain.objectsMoved,
                        sum(drain).objects));
    }

    private void stay(Drain drain) {
        NodeView node = membership.node(drain.node);
        if (node != null) {
            node.leaving = false;
        }
    }

    List<DrainStatus> status() {
        List<DrainStatus> status = new ArrayList<>();
        for (Drain drain : drains.values()) {
            List<DrainStatus.Leftover> leftovers = new ArrayList<>();
            drain.left.forEach((reason, tally) ->
                    leftovers.add(new DrainStatus.Leftover(reason.tier, tally.objects, tally.bytes, reason.why)));
            Tally left = sum(drain);
            status.add(new DrainStatus(
                    drain.node,
                    drain.state,
                    drain.startedAtMs,
                    left.objects,
                    left.bytes,
                    drain.objectsMoved,
                    drain.bytesMoved,
                    leftovers));
        }
        return status;
    }

    private static Tally sum(Drain drain) {
        Tally sum = new Tally();
        for (Tally tally : drain.left.values()) {
            sum.objects += tally.objects;
            sum.bytes += tally.bytes;
        }
        return sum;
    }
}
