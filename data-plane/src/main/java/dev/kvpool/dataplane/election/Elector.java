// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.election.Election.Decision;
import dev.kvpool.dataplane.election.Election.Purpose;
import dev.kvpool.dataplane.election.LeaseStore.Stored;
import dev.kvpool.dataplane.wire.message.Authority;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Runs an {@link Election} against a {@link LeaseStore}, a round at a time: read, decide, write, tell. Used by one thread;
 * {@link ElectorThread} is one that calls {@link #round} when it is time.
 */
public final class Elector {
    private final Candidate candidate;
    private final Election election;
    private final LeaseStore store;
    private final LongSupplier clockMs;
    private final InstantSource wallClock;
    private final LongSupplier knownEpoch;
    private final ElectionListener listener;
    private boolean standingBy;

    /**
     * Prepares an election; nothing happens before the first round.
     *
     * @param clockMs a clock that never goes back
     * @param knownEpoch the highest epoch any node has told of
     */
    public Elector(
            Candidate candidate,
            ElectionTimes times,
            LeaseStore store,
            LongSupplier clockMs,
            InstantSource wallClock,
            LongSupplier knownEpoch,
            ElectionListener listener) {
        this.candidate = candidate;
        this.election = new Election(candidate, times);
        this.store = store;
        this.clockMs = clockMs;
        this.wallClock = wallClock;
        this.knownEpoch = knownEpoch;
        this.listener = listener;
    }

    /**
     * One look at the Lease and what follows from it.
     *
     * @param raiseAbove take an epoch above this one now; 0 for no such wish
     * @param releasing give the Lease back if it is ours
     * @return whether the wish is granted: the Lease is ours with such an epoch, or is not ours any more
     */
    public boolean round(long raiseAbove, boolean releasing) {
        boolean led = election.isLeading();
        long epochBefore = election.epoch();
        boolean raise = raiseAbove > 0 && election.epoch() <= raiseAbove;
        String failure = null;
        try {
            long startedMs = clockMs.getAsLong();
            Optional<Stored> stored = store.read();
            listener.observed(stored.map(Stored::lease).orElse(null));
            Decision decision = election.decide(
                    stored,
                    startedMs,
                    wallClock.instant(),
                    Math.max(knownEpoch.getAsLong(), raiseAbove),
                    raise,
                    releasing);
            write(decision);
        } catch (LeaseStoreException | RuntimeException e) {
            // Whatever a store throws, a leader must go on watching its deadline.
            failure = e.getMessage() == null ? e.toString() : e.getMessage();
            election.notWritten(clockMs.getAsLong());
            listener.failed(failure);
        }
        tell(led, epochBefore, failure);
        return !election.isLeading() || election.epoch() > raiseAbove;
    }

    private void write(Decision decision) throws LeaseStoreException {
        if (decision.purpose() == Purpose.NOTHING) {
            return;
        }
        // The deadline counts from before the write: the others may have seen it at any moment since.
        long startedMs = clockMs.getAsLong();
        Optional<Stored> stored = decision.version().isPresent()
                ? store.update(decision.lease(), decision.version().get())
                : store.create(decision.lease());
        if (stored.isPresent()) {
            election.written(decision, stored.get(), startedMs);
            listener.observed(stored.get().lease());
        } else {
            election.notWritten(clockMs.getAsLong());
        }
    }

    private void tell(boolean led, long epochBefore, String failure) {
        if (election.isLeading()) {
            standingBy = false;
            if (led && election.epoch() == epochBefore) {
                listener.renewed(election.validUntilMs());
            } else {
                listener.leading(new Authority(election.epoch(), candidate.nonce()), election.validUntilMs());
            }
        } else if (led || (!standingBy && failure == null)) {
            standingBy = true;
            listener.standingBy(
                    !led ? "another master leads" : failure == null ? "the Lease is no longer ours" : failure);
        }
    }
}
