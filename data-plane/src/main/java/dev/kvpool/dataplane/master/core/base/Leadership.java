// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;

/** Whether this master leads, and under which authority. */
public final class Leadership {
    public enum Phase {
        /** The Lease was not read yet. */
        STARTING,
        STANDBY,
        /** Holds the Lease, does not answer requests yet. */
        RECOVERING,
        SERVING
    }

    private static final long UNSEEN = -1;

    private Phase phase = Phase.STARTING;
    private Authority authority = Authority.NONE;
    private long validUntilMs;
    private long lastCounter;
    private boolean leaving;

    /** The highest that the Lease was seen with; nothing is known of it before that. */
    private long leaseEpoch = UNSEEN;

    /** No other leader can have followed; kept by {@code Assurance}. */
    private boolean sure = true;

    public Phase phase() {
        return phase;
    }

    public Authority authority() {
        return authority;
    }

    public long validUntilMs() {
        return validUntilMs;
    }

    public boolean isSure() {
        return sure;
    }

    public void sure(boolean isSure) {
        sure = isSure;
    }

    public boolean leads() {
        return phase == Phase.RECOVERING || phase == Phase.SERVING;
    }

    public boolean serves(long nowMs) {
        return phase == Phase.SERVING && !leaving && sure && nowMs < validUntilMs;
    }

    /** The Lease has this epoch, under any holder. */
    public void leaseSeen(long epoch) {
        leaseEpoch = Math.max(leaseEpoch, epoch);
    }

    /** The same as another one knew. */
    public void knowsLeaseOf(Leadership before) {
        leaseEpoch = before.leaseEpoch;
    }

    public boolean knowsLease() {
        return leaseEpoch != UNSEEN;
    }

    /** The highest epoch that the Lease was seen with; 0 before it was seen. */
    public long leaseEpoch() {
        return Math.max(0, leaseEpoch);
    }

    /**
     * No object is of a higher epoch. A leader knows: what is above its own is written under no leader that it can have. A standby sees
     * the Lease now and then, and leaders may have followed each other meanwhile, but not many. Before it has seen the Lease it cannot tell.
     */
    public long objectEpochMax() {
        if (leads()) {
            return authority.epoch();
        }
        return leaseEpoch == UNSEEN ? Long.MAX_VALUE : leaseEpoch + Bounds.UNSEEN_LEADERS_MAX;
    }

    /** What a request gets to hear now: OK, or why it is not answered here. */
    public Status gate(long nowMs) {
        if (!leads() || leaving || nowMs >= validUntilMs) {
            return Status.NOT_LEADER;
        }
        return phase == Phase.SERVING && sure ? Status.OK : Status.RECOVERING;
    }

    /** The Lease is about to be given back: nothing new begins. */
    public void leave() {
        leaving = true;
    }

    /** It is not. */
    public void stay() {
        leaving = false;
    }

    public void standBy() {
        phase = Phase.STANDBY;
        authority = Authority.NONE;
    }

    public void recover(Authority newAuthority, long untilMs) {
        phase = Phase.RECOVERING;
        authority = newAuthority;
        leaseSeen(newAuthority.epoch());
        validUntilMs = untilMs;
        leaving = false;
        lastCounter = 0;
    }

    /** Stops answering until the epoch has been raised. */
    public void recoverAgain() {
        phase = Phase.RECOVERING;
    }

    public void serve() {
        phase = Phase.SERVING;
    }

    public void renewed(long untilMs) {
        validUntilMs = Math.max(validUntilMs, untilMs);
    }

    public ObjectId nextObjectId() {
        lastCounter++;
        return new ObjectId(authority.epoch(), lastCounter);
    }

    /** What {@link #nextObjectId} will answer under this authority at the earliest. */
    public ObjectId objectIdToCome() {
        return new ObjectId(authority.epoch(), lastCounter + 1);
    }
}
