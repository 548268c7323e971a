// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.replication;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.register.DrainEntry;
import java.util.List;

/** Keeps in the register how far each {@link Drain} is, and goes on with what it finds there. */
public final class DrainEntries {
    /** An entry is written again when this part of its time has passed: so much may a change of leaders give back to a drain. */
    private static final long WRITES_A_DRAIN = 16;

    private static final long PERIOD_MS_MAX = 60_000;

    private final RegisterKeeper register;
    private final Drains drains;

    public DrainEntries(RegisterKeeper register, Drains drains) {
        this.register = register;
        this.drains = drains;
    }

    /** Goes on with drains that leaders before have begun. */
    public void resume(long nowMs) {
        register.stored().drains().forEach((node, entry) -> drains.found(node, entry, nowMs));
    }

    public void tick(long nowMs) {
        for (String node : List.copyOf(register.wanted().drains().keySet())) {
            if (drains.all().stream().noneMatch(drain -> drain.node.equals(node) && drain.isHolding())) {
                register.change(it -> it.drainOver(node));
            }
        }
        for (Drain drain : drains.all()) {
            if (drain.isHolding() && isDue(drain, nowMs)) {
                drain.writtenMs = nowMs;
                DrainEntry entry = drain.entry(nowMs);
                register.change(it -> it.draining(drain.node, entry));
            }
        }
    }

    /** Whether the register has one of this node, or may come to. */
    public boolean mayHold(String node) {
        return register.isPossible(it -> it.drains().containsKey(node));
    }

    private boolean isDue(Drain drain, long nowMs) {
        DrainEntry written = register.wanted().drains().get(drain.node);
        if (written == null
                || written.stage() != drain.entry(nowMs).stage()
                || written.incarnation() != drain.incarnation
                || written.clears() != drain.clears) {
            return true;
        }
        long periodMs = Math.clamp(
                (written.leftMs() + WRITES_A_DRAIN - 1) / WRITES_A_DRAIN, Bounds.TOMBSTONE_PAUSE_MS, PERIOD_MS_MAX);
        return drain.isActive() && nowMs >= drain.writtenMs + periodMs;
    }
}
