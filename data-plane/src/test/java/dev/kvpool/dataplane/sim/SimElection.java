// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.election.Candidate;
import dev.kvpool.dataplane.election.ElectionListener;
import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.election.Elector;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.election.LeaseStore;
import dev.kvpool.dataplane.election.LeaseStoreException;
import dev.kvpool.dataplane.election.MemoryLeaseStore;
import dev.kvpool.dataplane.election.Sight;
import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.election.Wishes;
import dev.kvpool.dataplane.health.Beat;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.Optional;

/** The production election of one master over the simulated Lease; each life of the master is a new candidate. */
final class SimElection implements ElectionListener {
    private static final long ABSTAIN_MS = 3_000;

    /** As of a master process. */
    private static final long TURN_MS_MAX = 300;

    private final SimMaster master;
    private final ElectionTimes times;
    private final MemoryLeaseStore.Access access;
    private final World world;
    private final Beat beat;
    private Elector elector;
    private long raiseAbove;
    private Authority gone;
    private Optional<Wishes.RegisterWish> store = Optional.empty();
    private LeaseRecord seen;
    private Authority silent;
    private long silentAtMs;
    private long requestMs;

    /** The Lease was read just now: the next look at the clock is at the answer, not at the request. */
    private boolean answered;

    private long toldMs;
    private long heldUntilMs;
    private Authority givenAway;
    private long abstainsUntilMs;

    SimElection(SimMaster master, ElectionTimes times, MemoryLeaseStore leases) {
        this.master = master;
        this.times = times;
        this.access = leases.access();
        this.world = master.world;
        this.beat = new Beat(master::clockMs);
    }

    MemoryLeaseStore.Access access() {
        return access;
    }

    void begin(long nonce) {
        raiseAbove = 0;
        gone = Authority.NONE;
        givenAway = Authority.NONE;
        abstainsUntilMs = 0;
        silent = Authority.NONE;
        answered = false;
        turned();
        store = Optional.empty();
        seen = null;
        Candidate candidate = new Candidate(master.name, nonce);
        elector = new Elector(
                candidate,
                times,
                new Answering(access),
                this::clockMs,
                master::wallClock,
                () -> new Sight(master.status().highestEpoch(), master.status().isHalfConnected(), coreTurns()),
                this);
        master.beside(world.between(0, times.retryPeriodMs()), this::rounds);
    }

    /** Since when, at the latest, the Lease was not renewed, on the master's clock. */
    long renewedMs() {
        return heldUntilMs - times.renewDeadlineMs();
    }

    /** The core has done a turn: as the event loop stamps it, and the elector's thread reads it. */
    void turned() {
        beat.stamp();
    }

    void raiseAbove(long epoch) {
        raiseAbove = Math.max(raiseAbove, epoch);
        lookNow();
    }

    /** The holder of this authority is known to be gone. */
    void take(Authority holder) {
        gone = holder;
        lookNow();
    }

    /** The holder of this authority was silent then. */
    void takeSilent(Authority holder, long atMs) {
        if (elector.mayBeSilent(atMs)) {
            silent = holder;
            silentAtMs = atMs;
            lookNow();
        }
    }

    /** A request to the Lease began a while before it is carried out. */
    private long clockMs() {
        boolean now = answered;
        answered = false;
        return now ? master.clockMs() : master.clockMs() - requestMs;
    }

    void store(Authority leader, Register register) {
        store = Optional.of(new Wishes.RegisterWish(leader, register));
        lookNow();
    }

    void lookNow() {
        master.beside(world.between(0, 5), () -> round(false));
    }

    /** Gives the Lease back. */
    void release() {
        round(true);
    }

    /** Gives the Lease back for a while, and leads with a higher epoch after that if nobody took it. */
    void giveAway(Authority ours) {
        abstainsUntilMs = world.nowMs() + ABSTAIN_MS;
        givenAway = ours;
        lookNow();
    }

    private boolean abstains() {
        if (world.nowMs() < abstainsUntilMs) {
            return true;
        }
        raiseAbove = Math.max(raiseAbove, givenAway.epoch());
        givenAway = Authority.NONE;
        return false;
    }

    private void rounds() {
        round(false);
        master.beside(times.retryPeriodMs(), this::rounds);
    }

    /** As the elector's thread does it: a wish stays until a round has seen to it. */
    private void round(boolean release) {
        requestMs = world.oneIn(20) ? world.between(0, 400) : world.between(0, 5);
        boolean gives = abstains() || release;
        Wishes wishes = new Wishes(raiseAbove, gives, gone, 0, silent, silentAtMs, store);
        if (elector.round(wishes)) {
            raiseAbove = 0;
        }
        store = elector.hasStored(wishes) ? Optional.empty() : store;
        if (elector.reachedLease()) {
            gone = Authority.NONE;
            silent = Authority.NONE;
        }
    }

    /** From the elector's thread to the event loop: in order, a little later. */
    private void tell(Runnable input) {
        toldMs = Math.max(toldMs, world.nowMs() + (world.oneIn(20) ? world.between(0, 100) : 0));
        master.in(toldMs - world.nowMs(), input);
    }

    private boolean coreTurns() {
        return beat.ageMs() <= Math.min(TURN_MS_MAX, times.renewDeadlineMs() / 2);
    }

    private void mustTurn() {
        Violation.unless(
                master.hungForMs() <= Math.min(TURN_MS_MAX, times.renewDeadlineMs() / 2),
                "a hung core lets go of the Lease",
                "%s wrote itself into the Lease although its core hangs for %d ms",
                master,
                master.hungForMs());
    }

    @Override
    public void leading(Term term) {
        world.trace(() -> master.name + " takes the Lease: " + term);
        heldUntilMs = term.validUntilMs();
        master.taken(term);
        mustTurn();
        tell(() -> master.lead(term));
    }

    @Override
    public void renewed(long validUntilMs) {
        if (validUntilMs != heldUntilMs) {
            heldUntilMs = validUntilMs;
            mustTurn();
        }
        tell(() -> master.renewed(validUntilMs));
    }

    @Override
    public void registerStored(Register register) {
        world.trace(() -> master.name + " has stored " + register);
        master.stored(register);
        tell(() -> master.registerStored(register));
    }

    @Override
    public void standingBy(String reason) {
        world.trace(() -> master.name + " stands by: " + reason);
        tell(() -> master.standBy(reason));
    }

    @Override
    public void observed(LeaseRecord lease) {
        LeaseRecord before = seen;
        seen = lease;
        if (lease != null && !lease.tellsTheSame(before)) {
            tell(() -> master.leaseSeen(lease));
        }
    }

    @Override
    public void failed(String reason) {}

    /** The store of the Lease, which notes when it has answered. */
    private final class Answering implements LeaseStore {
        private final LeaseStore store;

        Answering(LeaseStore store) {
            this.store = store;
        }

        @Override
        public Optional<Stored> read() throws LeaseStoreException {
            Optional<Stored> stored = store.read();
            answered = true;
            return stored;
        }

        @Override
        public Optional<Stored> create(LeaseRecord lease) throws LeaseStoreException {
            return store.create(lease);
        }

        @Override
        public Optional<Stored> update(LeaseRecord lease, String version) throws LeaseStoreException {
            return store.update(lease, version);
        }

        @Override
        public String place() {
            return store.place();
        }

        @Override
        public void close() {
            store.close();
        }
    }
}
