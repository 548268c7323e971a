// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Outbox;

/**
 * Looks at the Lease because of what nodes say. All nodes say so at about the same time, and each look is a question to the API server: there is one
 * within {@link Bounds#LOOK_REST_MS}. The last word is never lost.
 */
public final class LeaseLooks {
    private final Outbox outbox;
    private long restUntilMs = Long.MIN_VALUE;
    private boolean wanted;

    public LeaseLooks(Outbox outbox) {
        this.outbox = outbox;
    }

    /** A node has said something that may show in the Lease. */
    public void ask(long nowMs) {
        wanted = true;
        tick(nowMs);
    }

    public void tick(long nowMs) {
        if (wanted && nowMs >= restUntilMs) {
            wanted = false;
            restUntilMs = nowMs + Bounds.LOOK_REST_MS;
            outbox.lookAtLease();
        }
    }
}
