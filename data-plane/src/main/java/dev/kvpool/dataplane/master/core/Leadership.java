// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;

/** Whether this master leads, and under which authority. */
final class Leadership {
    enum Phase {
        /** The Lease was not read yet. */
        STARTING,
        STANDBY,
        /** Holds the Lease, does not answer requests yet. */
        RECOVERING,
        SERVING
    }

    private Phase phase = Phase.STARTING;
    private Authority authority = Authority.NONE;
    private long validUntilMs;
    private long lastCounter;
    private boolean leaving;

    /** Nobody can have followed; kept by {@link Assurance}. */
    private boolean sure = true;

    Phase phase() {
        return phase;
    }

    Authority authority() {
        return authority;
    }

    long validUntilMs() {
        return validUntilMs;
    }

    boolean isSure() {
        return sure;
    }

    void sure(boolean isSure) {
        sure = isSure;
    }

    boolean leads() {
        return phase == Phase.RECOVERING || phase == Phase.SERVING;
    }

    boolean serves(long nowMs) {
        return phase == Phase.SERVING && !leaving && sure && nowMs < validUntilMs;
    }

    /** What a request gets to hear now: OK, or why it is not answered here. */
    Status gate(long nowMs) {
        if (!leads() || leaving || nowMs >= validUntilMs) {
            return Status.NOT_LEADER;
        }
        return phase == Phase.SERVING && sure ? Status.OK : Status.RECOVERING;
    }

    /** The Lease is about to be given back: nothing new begins. */
    void leave() {
        leaving = true;
    }

    void standBy() {
        phase = Phase.STANDBY;
        authority = Authority.NONE;
    }

    void recover(Authority newAuthority, long untilMs) {
        phase = Phase.RECOVERING;
        authority = newAuthority;
        validUntilMs = untilMs;
        leaving = false;
        lastCounter = 0;
    }

    /** Stops answering until the epoch has been raised. */
    void recoverAgain() {
        phase = Phase.RECOVERING;
    }

    void serve() {
        phase = Phase.SERVING;
    }

    void renewed(long untilMs) {
        validUntilMs = Math.max(validUntilMs, untilMs);
    }

    ObjectId nextObjectId() {
        lastCounter++;
        return new ObjectId(authority.epoch(), lastCounter);
    }
}
