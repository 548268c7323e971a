// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.election.LeaseStore.Stored;
import dev.kvpool.dataplane.election.Succession.Cause;
import dev.kvpool.dataplane.register.Register;

/** What one master has seen of the Lease, and what follows about the leaders that wrote it. Pure. */
final class LeaseHistory {
    /** A Lease that claims to be valid for longer is taken for a mistake. */
    private static final long DURATION_BELIEVED_MS_MAX = 60_000;

    private static final long NEVER = Long.MIN_VALUE;

    private final String self;
    private final long leaseDurationMs;

    /** The state that was seen last, null when there was none, and since when it has not changed. */
    private Stored seen;

    private long seenSinceMs;

    /** When it had been seen so for the first time: a moment after {@link #seenSinceMs}, when the answer was here. */
    private long unchangedSinceMs;

    private long highestEpoch;
    private Register register = Register.NONE;

    /** Transitions of the Lease that the register was read from. */
    private long registerEpoch;

    /** Name of the master that held the Lease last; empty when none was seen to. */
    private String lastHolder = "";

    /** Until when the other master whose record was seen last may lead, and until when those before it. */
    private long holderUntilMs = NEVER;

    private long earlierUntilMs = NEVER;

    /** @param self our own identity */
    LeaseHistory(String self, long leaseDurationMs) {
        this.self = self;
        this.leaseDurationMs = leaseDurationMs;
    }

    /** The most transitions of all states seen: one that was deleted or set back does not send the epoch back. */
    long highestEpoch() {
        return highestEpoch;
    }

    /**
     * The newest register of all states seen, for the same reason: that of the highest epoch, since a leader that found none counts its
     * revisions from one again.
     */
    Register register() {
        return register;
    }

    /** No other master leads after this moment, unless it has renewed the Lease since it was read. */
    long othersUntilMs() {
        return Math.max(earlierUntilMs, holderUntilMs);
    }

    /** The Lease as it was read, null when there is none. {@code nowMs} is from before it was read. */
    void read(Stored now, long nowMs) {
        boolean changed = now == null || seen == null || !now.version().equals(seen.version());
        if (changed) {
            judge(now, nowMs);
            become(now, nowMs);
        }
    }

    /** The answer to the read that began at {@code startedMs} was here at {@code nowMs}. */
    void read(Stored now, long startedMs, long nowMs) {
        boolean changed = now == null || seen == null || !now.version().equals(seen.version());
        read(now, startedMs);
        unchangedSinceMs = changed ? nowMs : unchangedSinceMs;
    }

    /** Since when, at the latest, the Lease is as it was read last. */
    long unchangedSinceMs() {
        return unchangedSinceMs;
    }

    /** We wrote this. {@code startedMs} is from before the write began. */
    void wrote(Stored now, long startedMs) {
        earlierUntilMs = othersUntilMs();
        holderUntilMs = NEVER;
        become(now, startedMs);
    }

    private void become(Stored now, long nowMs) {
        seen = now;
        seenSinceMs = nowMs;
        unchangedSinceMs = nowMs;
        if (now != null) {
            highestEpoch = Math.max(highestEpoch, now.lease().transitions());
            learn(now.lease());
            lastHolder = now.lease().isHeld() ? now.lease().holderName() : lastHolder;
        }
    }

    /** A register that is missing, or was set back, gives way to what is known here. */
    private void learn(LeaseRecord lease) {
        boolean isNewer = lease.transitions() > registerEpoch
                || (lease.transitions() == registerEpoch && !register.isNewerThan(lease.register()));
        if (isNewer && !lease.register().isLost()) {
            register = lease.register();
            registerEpoch = lease.transitions();
        }
    }

    private void judge(Stored now, long nowMs) {
        boolean sameHolder = now != null
                && seen != null
                && now.lease().holder().equals(seen.lease().holder());
        if (!sameHolder) {
            // Who gave the Lease back had stopped before. Everybody else may not have noticed yet.
            earlierUntilMs = isGivenBack(now) ? earlierUntilMs : othersUntilMs();
            holderUntilMs = NEVER;
        }
        if (now == null) {
            earlierUntilMs = Math.max(earlierUntilMs, nowMs + leaseDurationMs);
        } else if (now.lease().isHeld() && !now.lease().holder().equals(self)) {
            holderUntilMs = nowMs + validityMs(now.lease());
        }
    }

    private boolean isGivenBack(Stored now) {
        return now != null
                && seen != null
                && !now.lease().isHeld()
                && now.lease().transitions() == seen.lease().transitions();
    }

    /** Whether the Lease, as it was read last, has not changed for as long as it is valid. */
    boolean isExpired(long nowMs) {
        return nowMs - seenSinceMs >= validityMs(seen.lease());
    }

    /** How a leadership begins that takes the Lease as it was read last. {@code nowMs} is from before it was read. */
    Succession succession(Wishes wishes, long nowMs) {
        if (seen == null) {
            return began(highestEpoch == 0 ? Cause.FIRST : Cause.DELETED, seenSinceMs);
        }
        LeaseRecord lease = seen.lease();
        if (lease.holder().equals(self)) {
            return began(Cause.RAISED, nowMs);
        }
        if (!lease.isHeld()) {
            return began(lease.transitions() == 0 ? Cause.FIRST : Cause.RELEASED, seenSinceMs);
        }
        if (lease.isOf(wishes.gone())) {
            return began(Cause.DIED, wishes.goneSinceMs());
        }
        return began(isExpired(nowMs) ? Cause.EXPIRED : Cause.SILENT, seenSinceMs);
    }

    private Succession began(Cause cause, long sinceMs) {
        return new Succession(cause, lastHolder, sinceMs, sinceMs);
    }

    private long validityMs(LeaseRecord lease) {
        long claimedMs = Math.clamp(lease.durationSeconds() * 1000L, 0, DURATION_BELIEVED_MS_MAX);
        return Math.max(claimedMs, leaseDurationMs);
    }
}
