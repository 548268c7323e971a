// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;

/**
 * How long a leader may promise that an object stays. The next leader keeps to the longest object lease that the register has, so a
 * longer one is promised only when the register has it, and when every node that is connected has written it down: if the register is
 * lost, nodes tell. What a tenant's engine says counts neither way. A shorter one counts at once, while what was promised before it
 * runs on.
 */
public final class ObjectLeases {
    private final CurrentRules rules;
    private final Membership membership;
    private final RegisterKeeper register;
    private long promisedMs;

    /** Until when promises of a longer lease than now may run. */
    private long longerUntilMs = Long.MIN_VALUE;

    public ObjectLeases(CurrentRules rules, Membership membership, RegisterKeeper register) {
        this.rules = rules;
        this.membership = membership;
        this.register = register;
        promisedMs = rules.objectLeaseMs();
    }

    /** A term begins: no node takes part before it has answered a fence, which tells it the lease that is wanted now. */
    public void begin() {
        long storedMs = register.sureObjectLeaseMs();
        // Of a new pool, or one that lost its register, what nodes are told with the fence is enough.
        promisedMs = storedMs == 0 ? rules.objectLeaseMs() : Math.min(rules.objectLeaseMs(), storedMs);
        register.change(it -> it.leased(rules.objectLeaseMs()));
    }

    /** Another lease is wanted; the nodes are being told. */
    public void changed(long nowMs) {
        longerUntilMs = latestEndMs(nowMs);
        promisedMs = Math.min(promisedMs, rules.objectLeaseMs());
        register.change(it -> it.leased(rules.objectLeaseMs()));
        grow();
    }

    /**
     * Promises longer leases when that is safe, and has the register forget one that nothing is promised for any longer.
     *
     * @param recoveredUntilMs when the last promise of the leaders before this one has ended
     */
    public void tick(long recoveredUntilMs, long nowMs) {
        grow();
        if (nowMs >= recoveredUntilMs && nowMs >= longerUntilMs) {
            register.change(it -> it.leasedAtMost(Math.max(promisedMs, rules.objectLeaseMs())));
        }
    }

    private void grow() {
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

    /** The longest lease that the register and every connected node have; one that has not introduced itself hears of it then. */
    private long writtenMs() {
        long leastMs = register.sureObjectLeaseMs();
        for (NodeView node : membership.all()) {
            if (node.isConnected() && node.info() != null && node.mayKnowAllKeys()) {
                leastMs = Math.min(leastMs, node.objectLeaseMaxMs());
            }
        }
        return leastMs;
    }
}
