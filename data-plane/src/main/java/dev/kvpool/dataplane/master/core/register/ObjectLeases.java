// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.base.CurrentRules;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.register.Register;

/**
 * How long a leader may promise that an object stays. The next leader keeps to the longest object lease that the register has, so a
 * longer one is promised only when the register has it, and when every node that is connected has written it down: if the register is
 * lost, nodes tell. What a tenant's engine says counts neither way. A shorter one counts at once, while what was promised before it
 * runs on.
 */
public final class ObjectLeases {
    private final CurrentRules rules;
    private final Membership membership;
    private final Members members;
    private final RegisterKeeper register;
    private long promisedMs;

    /** Until when promises of a longer lease than now may run. */
    private long longerUntilMs = Long.MIN_VALUE;

    /**
     * The register has members and no lease, and not all of these have told one yet. Until they have it gets none: a leader that follows
     * this one soon asks them as well.
     */
    private boolean isUnknown;

    /** Until when the longest lease that there can be would run. */
    private long unknownUntilMs;

    public ObjectLeases(CurrentRules rules, Membership membership, Members members, RegisterKeeper register) {
        this.rules = rules;
        this.membership = membership;
        this.members = members;
        this.register = register;
        promisedMs = rules.objectLeaseMs();
    }

    /**
     * A term begins: no node takes part before it has answered a fence, which tells it the lease that is wanted now.
     *
     * @param predecessorUntilMs when the last leader before this one stopped giving promises
     */
    public void begin(long predecessorUntilMs) {
        long storedMs = register.sureObjectLeaseMs();
        // Of a new pool, or one that lost its register, what nodes are told with the fence is enough.
        promisedMs = storedMs == 0 ? rules.objectLeaseMs() : Math.min(rules.objectLeaseMs(), storedMs);
        isUnknown = storedMs == 0 && !register.stored().isLost();
        unknownUntilMs = predecessorUntilMs + Register.OBJECT_LEASE_MS_MAX;
        store();
    }

    private void store() {
        if (!isUnknown) {
            register.change(it -> it.leased(rules.objectLeaseMs()));
        }
    }

    /**
     * The longest that any leader before may have promised: as the register has it, or nodes if it was lost, or does not say.
     *
     * @param takesOver whether this leader begins; later it is known whether nodes had obeyed others, and of a new pool none had
     */
    public long foundMs(boolean takesOver) {
        boolean isLost =
                takesOver ? members.isRegisterLost() : register.wanted().open();
        if (isLost) {
            register.change(it -> it.leased(toldMs()));
        }
        long longestMs = Math.max(rules.objectLeaseMs(), register.wanted().objectLeaseMs());
        return isUnknown ? Math.clamp(toldMs(), longestMs, Register.OBJECT_LEASE_MS_MAX) : longestMs;
    }

    private long toldMs() {
        long longestMs = 0;
        for (NodeView node : membership.all()) {
            longestMs = node.mayKnowAllKeys() ? Math.max(longestMs, node.objectLeaseMaxMs()) : longestMs;
        }
        return longestMs;
    }

    /** Another lease is wanted; the nodes are being told. */
    public void changed(long nowMs) {
        longerUntilMs = latestEndMs(nowMs);
        promisedMs = Math.min(promisedMs, rules.objectLeaseMs());
        store();
        grow();
    }

    /**
     * Promises longer leases when that is safe, and has the register forget one that nothing is promised for any longer.
     *
     * @param recoveredUntilMs when the last promise of the leaders before this one has ended
     */
    public void tick(long recoveredUntilMs, long nowMs) {
        if (isUnknown && (nowMs >= unknownUntilMs || members.unheard().isEmpty())) {
            isUnknown = false;
            register.change(it -> it.leased(toldMs()));
            store();
        }
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
