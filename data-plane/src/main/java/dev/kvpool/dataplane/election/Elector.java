// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.election.Election.Decision;
import dev.kvpool.dataplane.election.Election.Purpose;
import dev.kvpool.dataplane.election.LeaseStore.Stored;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Runs an {@link Election} against a {@link LeaseStore}, a round at a time: read, decide, write, tell. Used by one thread;
 * {@link ElectorThread} is one that calls {@link #round} when it is time.
 */
public final class Elector {
    /** A holder that is gone may still have a renewal on its way, which makes a write fail. */
    private static final int CLAIMS_MAX = 3;

    private static final String HELD_UP =
            "the core of this master hangs: it neither takes the Lease nor renews it until that is over";

    private final Election election;
    private final LeaseStore store;
    private final LongSupplier clockMs;
    private final InstantSource wallClock;
    private final Supplier<Sight> sight;
    private final ElectionListener listener;
    private boolean standingBy;
    private boolean reachedLease;
    private volatile long unchangedSinceMs = Long.MAX_VALUE;

    /** What the round under way has stored; null when nothing. */
    private Register storedRegister;

    /**
     * Prepares an election; nothing happens before the first round.
     *
     * @param clockMs a clock that never goes back
     * @param sight what the storage nodes have told, as of now
     */
    public Elector(
            Candidate candidate,
            ElectionTimes times,
            LeaseStore store,
            LongSupplier clockMs,
            InstantSource wallClock,
            Supplier<Sight> sight,
            ElectionListener listener) {
        this.election = new Election(candidate, times);
        this.store = store;
        this.clockMs = clockMs;
        this.wallClock = wallClock;
        this.sight = sight;
        this.listener = listener;
    }

    /**
     * One look at the Lease and what follows from it.
     *
     * @return whether the wish for a higher epoch is granted: the Lease is ours with such an epoch, or is not ours any more
     */
    public boolean round(Wishes wishes) {
        boolean led = election.isLeading();
        long epochBefore = epoch();
        String failure = null;
        reachedLease = true;
        storedRegister = null;
        try {
            int tries = wishes.gone().equals(Authority.NONE) ? 1 : CLAIMS_MAX;
            while (tries > 0 && lookAndWrite(wishes)) {
                tries--;
            }
        } catch (LeaseStoreException | RuntimeException e) {
            // Whatever a store throws, a leader must go on watching its deadline.
            reachedLease = false;
            failure = e.getMessage() == null ? e.toString() : e.getMessage();
            election.notWritten(clockMs.getAsLong());
            listener.failed(failure);
        }
        if (failure == null && election.isHeldUp()) {
            listener.failed(HELD_UP);
        }
        tell(led, epochBefore, failure);
        return !election.isLeading() || epoch() > wishes.raiseAbove();
    }

    /** Whether the last round has stored the register that was wished. */
    public boolean hasStored(Wishes wishes) {
        return storedRegister != null
                && wishes.store()
                        .map(wish -> wish.register().equals(storedRegister))
                        .orElse(false);
    }

    /** Whether the last round could read the Lease, and write it as far as it wanted to. */
    public boolean reachedLease() {
        return reachedLease;
    }

    /** Whether another was faster. */
    private boolean lookAndWrite(Wishes wishes) throws LeaseStoreException {
        long startedMs = clockMs.getAsLong();
        Optional<Stored> stored = store.read();
        election.read(stored, startedMs, clockMs.getAsLong());
        unchangedSinceMs = election.unchangedSinceMs();
        listener.observed(stored.map(Stored::lease).orElse(null));
        Decision decision = election.decide(stored, startedMs, wallClock.instant(), sight.get(), wishes);
        return !write(decision, wishes);
    }

    /** Whether what was decided is done. */
    private boolean write(Decision decision, Wishes wishes) throws LeaseStoreException {
        if (decision.purpose() == Purpose.NOTHING) {
            return true;
        }
        // The deadline counts from before the write: the others may have seen it at any moment since.
        long startedMs = clockMs.getAsLong();
        Optional<Stored> stored = decision.version().isPresent()
                ? store.update(decision.lease(), decision.version().get())
                : store.create(decision.lease());
        if (stored.isPresent()) {
            election.written(decision, stored.get(), startedMs);
            listener.observed(stored.get().lease());
            if (decision.stores(wishes)) {
                storedRegister = decision.lease().register();
            }
        } else {
            election.notWritten(clockMs.getAsLong());
        }
        return stored.isPresent();
    }

    private void tell(boolean led, long epochBefore, String failure) {
        if (election.isLeading()) {
            standingBy = false;
            Term term = election.term();
            if (led && term.authority().epoch() == epochBefore) {
                listener.renewed(term.validUntilMs());
            } else {
                listener.leading(term);
            }
            if (storedRegister != null) {
                listener.registerStored(storedRegister);
            }
        } else if (led || (!standingBy && failure == null)) {
            standingBy = true;
            listener.standingBy(led ? whyNoLonger(failure) : whyStandingBy());
        }
    }

    /** Whether the last round left a free Lease to masters that see more of the pool: what it knew of its holder is still needed. */
    boolean leavesToOthers() {
        return election.leavesToOthers();
    }

    /** Whether the last round left a Lease alone that it would have written, since the core did not turn. */
    boolean isHeldUp() {
        return election.isHeldUp();
    }

    /** Whether a look at the Lease may show that a holder which was silent then has not renewed it either. From any thread. */
    public boolean mayBeSilent(long silentAtMs) {
        return unchangedSinceMs <= silentAtMs - Election.SILENT_MS;
    }

    /** Whether nothing holds a round up now. */
    boolean coreTurns() {
        return sight.get().coreTurns();
    }

    private String whyStandingBy() {
        if (isHeldUp()) {
            return HELD_UP;
        }
        return leavesToOthers()
                ? "fewer than half of the expected nodes are connected: the Lease is left to other masters for a while"
                : "another master leads";
    }

    private String whyNoLonger(String failure) {
        if (failure != null) {
            return failure;
        }
        return isHeldUp() ? HELD_UP : "the Lease is no longer ours";
    }

    private long epoch() {
        return election.term().authority().epoch();
    }
}
