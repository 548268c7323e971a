// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Drains that are looked at and begun in one turn of the core, so that nothing comes in between. */
public final class DrainTurns {
    private DrainTurns() {}

    /**
     * Begins to empty a node. One that is being emptied, or was together with others, keeps the time of its begin: it is what they are
     * known by, and they are not over before this one is. One of which nothing is to be left has a time of its own: it is to leave, and
     * who takes the others back does not mean it.
     */
    public static Optional<String> begin(
            MasterCore core, String node, boolean clears, long timeoutMs, long startedAtMs, long nowMs) {
        List<DrainStatus> drains = core.drains();
        long began = drains.stream()
                .filter(drain -> !clears && drain.node().equals(node))
                .filter(drain -> drain.state() == DrainStatus.State.DRAINING || isOneOfSeveral(drain, drains))
                .mapToLong(DrainStatus::startedAtMs)
                .findFirst()
                .orElse(startedAtMs);
        return core.drain(node, clears, timeoutMs, began, nowMs);
    }

    private static boolean isOneOfSeveral(DrainStatus drain, List<DrainStatus> drains) {
        return drains.stream()
                .anyMatch(other -> other.startedAtMs() == drain.startedAtMs()
                        && !other.node().equals(drain.node()));
    }

    /** Begins to empty all of these nodes, or none. */
    public static Optional<String> beginAll(
            MasterCore core,
            List<String> nodes,
            long timeoutMs,
            long startedAtMs,
            long nowMs,
            Function<List<DrainStatus>, Optional<String>> objection) {
        Optional<String> why = objection.apply(core.drains());
        for (int i = 0; why.isEmpty() && i < nodes.size(); i++) {
            why = core.drain(nodes.get(i), false, timeoutMs, startedAtMs, nowMs);
        }
        if (why.isPresent()) {
            cancelAll(core, startedAtMs);
        }
        return why;
    }

    /** Ends the emptying of all nodes that began then; false when there was none. */
    public static boolean cancelAll(MasterCore core, long startedAtMs) {
        boolean any = false;
        for (DrainStatus drain : core.drains()) {
            any |= drain.startedAtMs() == startedAtMs && core.cancelDrain(drain.node());
        }
        return any;
    }
}
