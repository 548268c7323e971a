// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.election.LeaseStore.Stored;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.time.Instant;
import java.util.Optional;

/**
 * Decides, from what the Lease says, what to write and whether we lead. Pure: one round is {@link #decide}, then, when that
 * says to write, {@link #written} or {@link #notWritten}. Times are of a clock that never goes back; nobody's wall clock
 * decides anything.
 *
 * <p>The epoch is the Lease's transitions. It grows with every acquisition, also of a Lease that was deleted or set back:
 * then the highest epoch that the nodes have told of, or this master has seen, counts instead, and some above it are left out,
 * since later leaders may have been that neither saw. The register of such a one would count for more than ours
 * ({@link LeaseHistory#register()}) where it is remembered.
 */
public final class Election {
    /** What the round writes, if anything. */
    public enum Purpose {
        /** Nothing: somebody else leads. */
        NOTHING,
        /** Take the Lease, or take it again with a higher epoch. */
        ACQUIRE,
        RENEW,
        /** Give it back. */
        RELEASE
    }

    /**
     * What to write.
     *
     * @param lease null for NOTHING
     * @param version of the state to replace; empty to create the Lease
     */
    public record Decision(Purpose purpose, LeaseRecord lease, Optional<String> version) {
        static final Decision NOTHING = new Decision(Purpose.NOTHING, null, Optional.empty());

        /** Whether this stores what a leader wished. */
        boolean stores(Wishes wishes) {
            return purpose == Purpose.RENEW
                    && wishes.store()
                            .map(wish -> lease.register().equals(wish.register()))
                            .orElse(false);
        }
    }

    /**
     * How long the Lease of a holder that nodes do not hear must not have changed for another to take it: longer than that holder
     * takes itself for the leader after a renewal, if its nodes do not answer ({@code Bounds.SURE_MS} of the core).
     */
    public static final long SILENT_MS = 1_250;

    /** As many leaders as may follow each other unseen between two looks at the Lease ({@code Bounds.UNSEEN_LEADERS_MAX} of the core). */
    static final long UNSEEN_LEADERS = 8;

    private static final long HELD = Long.MIN_VALUE;

    private final Candidate candidate;
    private final ElectionTimes times;
    private final LeaseHistory history;

    private boolean leading;

    /** Since when anybody could take the Lease, as far as this candidate saw; {@link #HELD} while nobody can. */
    private long freeSinceMs = HELD;

    private boolean leavesToOthers;
    private boolean heldUp;
    private long epoch;
    private long renewedMs;
    private long predecessorUntilMs = Long.MIN_VALUE;
    private Instant acquired = Instant.EPOCH;

    /** Of the present or last leadership, and of the one that the decided write would begin. */
    private Succession succession = Succession.NONE;

    private Succession next = Succession.NONE;

    public Election(Candidate candidate, ElectionTimes times) {
        this.candidate = candidate;
        this.times = times;
        this.history = new LeaseHistory(candidate.identity(), times.leaseDurationMs());
    }

    public boolean isLeading() {
        return leading;
    }

    /** Whether the Lease is free, and left to candidates that see more of the pool. */
    boolean leavesToOthers() {
        return leavesToOthers;
    }

    /** Whether the last round would have renewed or taken the Lease, had the core of this master done a turn lately. */
    boolean isHeldUp() {
        return heldUp;
    }

    /** Our present or last leadership. */
    public Term term() {
        return new Term(authority(), validUntilMs(), predecessorUntilMs, succession, history.register());
    }

    private Authority authority() {
        return new Authority(epoch, candidate.nonce());
    }

    private long validUntilMs() {
        return renewedMs + times.renewDeadlineMs();
    }

    /** The Lease was read: before it is decided about. {@code nowMs} is when the answer was here. */
    void read(Optional<Stored> stored, long startedMs, long nowMs) {
        history.read(stored.orElse(null), startedMs, nowMs);
    }

    /** Since when, at the latest, the Lease has not changed. */
    long unchangedSinceMs() {
        return history.unchangedSinceMs();
    }

    /**
     * Decides a round.
     *
     * @param stored the Lease as just read
     * @param nowMs taken before it was read
     * @param wallClock only written into the Lease, for people
     * @param sight what the nodes have told; our epoch becomes higher than any of theirs
     */
    public Decision decide(Optional<Stored> stored, long nowMs, Instant wallClock, Sight sight, Wishes wishes) {
        history.read(stored.orElse(null), nowMs);
        expire(nowMs);
        leavesToOthers = false;
        heldUp = false;
        boolean ours = stored.isPresent() && stored.get().lease().holder().equals(candidate.identity());
        if (!ours) {
            leading = false;
        }
        if (wishes.release()) {
            return ours ? release(stored.get(), wallClock) : Decision.NOTHING;
        }
        boolean raise = wishes.raiseAbove() > 0 && epoch <= wishes.raiseAbove();
        boolean unchanged = ours && stored.get().lease().transitions() == epoch;
        boolean renew = leading && unchanged && !raise;
        boolean acquire = !renew && (ours || (mayTake(stored, nowMs, wishes) && !isLeftToOthers(sight, nowMs)));
        if (!sight.coreTurns()) {
            heldUp = renew || acquire;
            return Decision.NOTHING;
        }
        if (renew) {
            return write(Purpose.RENEW, stored, epoch, wallClock, registerOf(wishes));
        }
        if (acquire) {
            // Our own Lease without leading: a renewal came too late or an answer was lost. Nobody took it, yet what we
            // granted may have been fenced off, so this is a new leadership.
            acquired = wallClock;
            next = history.succession(wishes, nowMs);
            return write(Purpose.ACQUIRE, stored, nextEpoch(stored, sight, wishes), wallClock, history.register());
        }
        return Decision.NOTHING;
    }

    private long nextEpoch(Optional<Stored> stored, Sight sight, Wishes wishes) {
        long known = Math.max(sight.highestEpoch(), history.highestEpoch());
        boolean wentBack = stored.map(it -> it.lease().transitions()).orElse(0L) < known;
        return Math.max(wentBack ? known + UNSEEN_LEADERS : known, wishes.raiseAbove()) + 1;
    }

    /** The decided write went through. {@code startedMs} is from before it began. */
    public void written(Decision decision, Stored stored, long startedMs) {
        if (decision.purpose() == Purpose.ACQUIRE) {
            long oursUntilMs = epoch == 0 ? Long.MIN_VALUE : validUntilMs();
            predecessorUntilMs = Math.max(history.othersUntilMs(), oursUntilMs);
            succession = next.takenAt(startedMs);
        }
        history.wrote(stored, startedMs);
        if (decision.purpose() == Purpose.RELEASE) {
            leading = false;
            return;
        }
        leading = true;
        epoch = stored.lease().transitions();
        renewedMs = startedMs;
    }

    /** The round failed: no answer, or another was faster. A leader goes on until its deadline. */
    public void notWritten(long nowMs) {
        expire(nowMs);
    }

    private void expire(long nowMs) {
        if (leading && nowMs >= validUntilMs()) {
            leading = false;
        }
    }

    /** Absent, released, not renewed for its duration since we first saw it so, or of a holder known to be gone or silent. */
    private boolean mayTake(Optional<Stored> stored, long nowMs, Wishes wishes) {
        boolean free = stored.isEmpty()
                || !stored.get().lease().isHeld()
                || stored.get().lease().isOf(wishes.gone())
                || isSilent(stored.get(), wishes)
                || history.isExpired(nowMs);
        if (!free) {
            freeSinceMs = HELD;
        } else if (freeSinceMs == HELD) {
            freeSinceMs = nowMs;
        }
        return free;
    }

    private boolean isSilent(Stored stored, Wishes wishes) {
        return stored.lease().isOf(wishes.silent()) && isUnchangedFor(wishes.silentAtMs());
    }

    /** Whether the holder had not renewed the Lease for so long at that moment that it was not sure to lead any more. */
    private boolean isUnchangedFor(long silentAtMs) {
        return history.unchangedSinceMs() <= silentAtMs - SILENT_MS;
    }

    /**
     * A candidate that sees less than half of the pool comes after those that see more, which take a free Lease at their next
     * look. It waits as long as a Lease lasts and no longer, for all may be as blind, and a pool without nodes needs a leader too.
     */
    private boolean isLeftToOthers(Sight sight, long nowMs) {
        leavesToOthers = !sight.enough() && nowMs - freeSinceMs < times.leaseDurationMs();
        return leavesToOthers;
    }

    /** Who leads may change the register, as long as it leads under the authority that it wished it under. */
    private Register registerOf(Wishes wishes) {
        return wishes.store()
                .filter(wish -> wish.leader().equals(authority()))
                .map(Wishes.RegisterWish::register)
                .orElse(history.register());
    }

    private Decision write(
            Purpose purpose, Optional<Stored> stored, long transitions, Instant wallClock, Register register) {
        int seconds = (int) Math.ceilDiv(times.leaseDurationMs(), 1000L);
        LeaseRecord lease = new LeaseRecord(candidate.identity(), seconds, acquired, wallClock, transitions, register);
        return new Decision(purpose, lease, stored.map(Stored::version));
    }

    /** An empty holder lets the others take it at once; the transitions stay, so the epoch goes on growing. */
    private Decision release(Stored stored, Instant wallClock) {
        LeaseRecord lease = stored.lease();
        LeaseRecord free =
                new LeaseRecord("", 1, lease.acquireTime(), wallClock, lease.transitions(), history.register());
        return new Decision(Purpose.RELEASE, free, Optional.of(stored.version()));
    }
}
