// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.election.Candidate;
import dev.kvpool.dataplane.election.ElectionListener;
import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.election.Elector;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.election.MemoryLeaseStore;
import dev.kvpool.dataplane.election.Sight;
import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.election.Wishes;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The real election of one master in the simulated world; each life of the master is a new candidate. */
final class ModelElection implements ElectionListener {
    private static final ElectionTimes TIMES = ElectionTimes.DEFAULT;

    private final World world;
    private final ModelMaster master;
    private final String name;
    private final MemoryLeaseStore.Access access;
    private final List<Authority> terms = new ArrayList<>();
    private Elector elector;
    private long raiseAbove;
    private Optional<Wishes.RegisterWish> store = Optional.empty();

    ModelElection(World world, ModelMaster master, String name, MemoryLeaseStore store) {
        this.world = world;
        this.master = master;
        this.name = name;
        this.access = store.access();
        rebirth();
        master.onRaise(above -> raiseAbove = Math.max(raiseAbove, above));
        master.onStore(wish -> {
            this.store = Optional.of(new Wishes.RegisterWish(wish.leader(), wish.register()));
            world.in(0, this::round);
        });
        world.every(TIMES.retryPeriodMs(), this::round);
    }

    MemoryLeaseStore.Access access() {
        return access;
    }

    /** Every authority this master ever had. */
    List<Authority> terms() {
        return terms;
    }

    void rebirth() {
        raiseAbove = 0;
        store = Optional.empty();
        Candidate candidate = new Candidate(name, world.random.nextLong());
        elector = new Elector(
                candidate,
                TIMES,
                access,
                world::nowMs,
                () -> Instant.EPOCH,
                () -> new Sight(master.status().highestEpoch(), master.status().isHalfConnected(), true),
                this);
    }

    private void round() {
        Wishes wishes = new Wishes(raiseAbove, false, Authority.NONE, 0, Authority.NONE, 0, store);
        if (master.isUp() && elector.round(wishes)) {
            raiseAbove = 0;
        }
        boolean isNewWish = !store.equals(wishes.store());
        store = elector.hasStored(wishes) && !isNewWish ? Optional.empty() : store;
    }

    @Override
    public void leading(Term term) {
        terms.add(term.authority());
        master.lead(term);
    }

    @Override
    public void renewed(long validUntilMs) {
        master.renew(validUntilMs - world.nowMs());
    }

    @Override
    public void registerStored(Register register) {
        master.registerStored(register);
    }

    @Override
    public void standingBy(String reason) {
        master.standBy();
    }

    @Override
    public void observed(LeaseRecord lease) {}

    @Override
    public void failed(String reason) {}
}
