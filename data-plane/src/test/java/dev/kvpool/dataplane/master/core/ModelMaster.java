// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.base.ViewDefect;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

/** A real core in the simulated world; a restart is a new core. */
final class ModelMaster {
    private final World world;
    private final CoreSettings settings;
    private final Set<String> expected;
    private final Map<Long, Link> links = new HashMap<>();
    private final List<String> reports = new ArrayList<>();
    private final List<Action> departures = new ArrayList<>();
    private final List<Action.Evicted> evictions = new ArrayList<>();
    private Consumer<Long> onRaise = above -> {};
    private Consumer<Change> onChange = change -> {};
    private MasterCore core;
    private long lastSession;
    private boolean up = true;
    private Authority leads = Authority.NONE;

    ModelMaster(World world, CoreSettings settings, Set<String> expected) {
        this.world = world;
        this.settings = settings;
        this.expected = expected;
        this.core = newCore();
        world.every(10, () -> {
            if (up) {
                run(() -> core.tick(world.nowMs()));
            }
        });
    }

    private MasterCore newCore() {
        return new MasterCore(settings, expected, new Random(world.random.nextLong()), new Random(1));
    }

    MasterCore core() {
        return core;
    }

    List<String> reports() {
        return reports;
    }

    /** What it said that it evicts. */
    List<Action.Evicted> evictions() {
        return evictions;
    }

    /** What it wanted done about leaders that are gone. */
    List<Action> departures() {
        return departures;
    }

    boolean isUp() {
        return up;
    }

    void onRaise(Consumer<Long> listener) {
        onRaise = listener;
    }

    /** Hears what changes for readers, once its core is asked to tell it. */
    void onChange(Consumer<Change> listener) {
        onChange = listener;
    }

    private void storeByHand(Action.StoreRegister store) {
        world.in(0, () -> world.store(store.leader(), store.register(), () -> registerStored(store.register())));
    }

    void registerStored(Register register) {
        if (up) {
            core.registerStored(register, world.nowMs());
            perform();
        }
    }

    PoolStatus status() {
        return core.status();
    }

    /** Under which authority it was made leader last. */
    Authority leads() {
        return leads;
    }

    void lead(Authority authority, long validForMs) {
        leads = authority;
        core.lead(
                authority,
                world.nowMs() + validForMs,
                world.nowMs() + Scenario.LEASE_DURATION_MS,
                world.taken(authority),
                world.nowMs());
        perform();
    }

    void lead(Term term) {
        core.lead(term.authority(), term.validUntilMs(), term.predecessorUntilMs(), term.register(), world.nowMs());
        perform();
    }

    void goBy(CacheRules rules) {
        core.goBy(rules, world.nowMs());
        perform();
    }

    void renew(long validForMs) {
        core.renewed(world.nowMs() + validForMs, world.nowMs());
    }

    void standBy() {
        core.standBy("the election says so", world.nowMs());
        perform();
    }

    /** Kill: connections end, the view is gone. */
    void crash() {
        up = false;
        List.copyOf(links.values()).forEach(link -> link.end("the master died"));
        core = newCore();
    }

    void start() {
        up = true;
    }

    /** A node dials; empty when it is refused or nobody listens. */
    Optional<Link> connectNode(NodePeer peer, Consumer<Message> toPeer, Runnable onEnd) {
        if (!up) {
            return Optional.empty();
        }
        long session = ++lastSession;
        Optional<Objection> objection = core.nodeConnected(session, peer, world.nowMs());
        Link link = new Link(world, this, session, toPeer, onEnd);
        if (objection.isEmpty()) {
            links.put(session, link);
        }
        perform();
        return objection.isEmpty() ? Optional.of(link) : Optional.empty();
    }

    Optional<Link> connectClient(Consumer<Message> toPeer, Runnable onEnd) {
        return connectClient(Optional.empty(), toPeer, onEnd);
    }

    /** @param tenant by its certificate; empty without one */
    Optional<Link> connectClient(Optional<Tenant> tenant, Consumer<Message> toPeer, Runnable onEnd) {
        if (!up) {
            return Optional.empty();
        }
        long session = ++lastSession;
        core.clientConnected(session, tenant, world.nowMs());
        Link link = new Link(world, this, session, toPeer, onEnd);
        links.put(session, link);
        return Optional.of(link);
    }

    void receive(long session, Message message) {
        if (up && links.containsKey(session)) {
            run(() -> core.receive(session, message, world.nowMs()));
        }
    }

    private void run(Runnable input) {
        try {
            input.run();
        } catch (ViewDefect e) {
            dropView(e);
        }
        perform();
    }

    private void dropView(ViewDefect defect) {
        core = core.withoutView(defect, world.nowMs());
        List<Link> open = List.copyOf(links.values());
        links.clear();
        open.forEach(link -> link.end("the master dropped its view"));
    }

    void linkEnded(long session, String reason) {
        if (links.remove(session) != null && up) {
            core.closed(session, reason, world.nowMs());
            perform();
        }
    }

    private void perform() {
        for (Action action : core.drain()) {
            switch (action) {
                case Action.Send it -> send(it);
                case Action.Close it ->
                    Optional.ofNullable(links.get(it.session())).ifPresent(link -> link.end(it.reason()));
                case Action.RaiseEpoch it -> onRaise.accept(it.above());
                case Action.StoreRegister it -> storeByHand(it);
                case Action.LookAtLease it -> departures.add(it);
                case Action.HandOver it -> departures.add(it);
                case Action.LeaderCrashed it -> departures.add(it);
                case Action.LeaderSilent it -> departures.add(it);
                case Action.Report it -> reports.add(it.line());
                case Action.Evicted it -> evictions.add(it);
                case Action.Changed it -> onChange.accept(it.change());
            }
        }
    }

    private void send(Action.Send send) {
        Optional.ofNullable(links.get(send.session())).ifPresent(link -> link.toPeer(send.message()));
    }
}
