// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.index.NodeView;

/**
 * How long a leader may promise that an object stays. Whoever leads next keeps to the largest object lease that the nodes have
 * written down, so a longer one is promised only when every node that is connected has. A shorter one counts at once, while what was promised before it
 * runs on.
 */
public final class ObjectLeases {
    private final CurrentRules rules;
    private final Membership membership;
    private long promisedMs;

    /** Until when promises of a longer lease than now may run. */
    private long longerUntilMs = Long.MIN_VALUE;

    public ObjectLeases(CurrentRules rules, Membership membership) {
        this.rules = rules;
        this.membership = membership;
        promisedMs = rules.objectLeaseMs();
    }

    /** A term begins: no node takes part before it has answered a fence, which tells it the lease that is wanted now. */
    public void begin() {
        promisedMs = rules.objectLeaseMs();
    }

    /** Another lease is wanted; the nodes are being told. */
    public void changed(long nowMs) {
        longerUntilMs = latestEndMs(nowMs);
        promisedMs = Math.min(promisedMs, rules.objectLeaseMs());
        tick();
    }

    public void tick() {
        if (promisedMs < rules.objectLeaseMs()) {
            // Not less than before: a node that has only come hears of that before it takes part.
            promisedMs = Math.max(promisedMs, Math.min(rules.objectLeaseMs(), writtenMs()));
        }
    }

    /** The length of a promise that is given now. */
    public long promisedMs() {
        return promisedMs;
    }

    /** When the last of the promises ends that this leader has given so far, or gives now. */
    public long latestEndMs(long nowMs) {
        return Math.max(longerUntilMs, nowMs + promisedMs);
    }

    /** The longest lease that every connected node has written down; one that has not introduced itself hears of it then. */
    private long writtenMs() {
        long leastMs = Long.MAX_VALUE;
        for (NodeView node : membership.all()) {
            if (node.isConnected() && node.info() != null) {
                leastMs = Math.min(leastMs, node.objectLeaseMaxMs());
            }
        }
        return leastMs;
    }
}
