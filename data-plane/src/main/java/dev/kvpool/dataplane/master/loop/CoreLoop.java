// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.loop;

import dev.kvpool.dataplane.health.Beat;
import dev.kvpool.dataplane.health.Defects;
import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.base.ViewDefect;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Message;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Owns the core: runs every input on one event loop and does what the core then asks for. Whatever is thrown meanwhile ends
 * the process: the view may be half changed, and is never worth more than its correctness. A master without one builds a new one.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it, and the pipeline hears of that
public final class CoreLoop {
    private static final Logger LOG = LoggerFactory.getLogger(CoreLoop.class);

    /** Hears, on the event loop, what concerns the election. */
    public interface Leaders {
        /** Our epoch must become higher than this one. */
        void raiseAbove(long epoch);

        /** The Lease is to hold this register, as long as this leader has it. */
        void store(Authority leader, Register register);

        /** This master leads no more, since it has dropped its view: others should, who may have theirs. */
        void lostView(Authority ours);

        /** Too little of the pool reaches this leader: others should lead, who may see more. */
        void handsOver();

        /** The leader has given its Lease back, as it told a node. */
        void left();

        /** Most expected nodes say that this leader has crashed; they knew it at {@code address}. */
        void crashed(Authority authority, String address);

        /** Most expected nodes hear nothing of this leader, see {@link Action.LeaderSilent}. */
        void silent(Action.LeaderSilent what);
    }

    private MasterCore core;
    private final EventLoop loop;
    private final LongSupplier clockMs;
    private final Leaders leaders;
    private final Consumer<Message> localReplies;
    private final Consumer<List<Action>> logs;
    private final ConnectionCounts counts;
    private final Defects defects;
    private final Beat beat;
    private final UnsentMessages unsent = new UnsentMessages();
    private final ClientsSetApart setApart = new ClientsSetApart();
    private final Map<Long, UnsentMessages.Peer> peers = new HashMap<>();
    private final Set<Channel> unflushed = new LinkedHashSet<>();
    private long lastSession = MasterCore.LOCAL_SESSION;
    private long inputs;
    private boolean flushing;
    private boolean defective;

    /**
     * Takes over the core; from now on it is used on {@code loop} only.
     *
     * @param leaders told what the core finds out about who leads
     * @param localReplies gets the answers to requests of {@link MasterCore#LOCAL_SESSION}
     * @param logs get what each input led to before any of it is done
     * @param defects told once when the core has thrown; after that it gets no input any more
     */
    public CoreLoop(
            MasterCore core,
            EventLoop loop,
            LongSupplier clockMs,
            Leaders leaders,
            Consumer<Message> localReplies,
            Consumer<List<Action>> logs,
            ConnectionCounts counts,
            Defects defects) {
        this.core = core;
        this.loop = loop;
        this.clockMs = clockMs;
        this.leaders = leaders;
        this.localReplies = localReplies;
        this.logs = logs;
        this.counts = counts;
        this.defects = defects;
        this.beat = new Beat(clockMs);
    }

    /** Time on the clock of the core. */
    public long nowMs() {
        return clockMs.getAsLong();
    }

    /** How many there were until now; on the event loop. */
    public long inputs() {
        return inputs;
    }

    /** Stamped with each tick: as long as it is fresh the loop turns, and the core with it. From any thread. */
    public Beat beat() {
        return beat;
    }

    /** Time goes by; on the event loop, every 10 ms or so. */
    public void tick() {
        apply(it -> it.tick(nowMs()));
        if (!defective) {
            beat.stamp();
        }
    }

    /**
     * A number for a welcomed connection.
     *
     * @param isMember whether the peer is a storage node or master of the pool
     * @param principal what the connections of one peer have in common
     * @param process tells its process from others of that name, or that host
     */
    public long open(Channel channel, boolean isMember, String principal, String process) {
        lastSession++;
        peers.put(lastSession, unsent.open(channel, isMember, principal, process));
        return lastSession;
    }

    /** How many connections there have been. */
    public long opened() {
        return lastSession;
    }

    /** Why a client's process may not come in, or nothing; to be asked before the core is. */
    public Optional<Objection> objection(String principal, String process) {
        return setApart.objection(principal, process, nowMs());
    }

    /** Takes a number back that the core did not accept. */
    public void forget(long session) {
        peers.remove(session);
    }

    public void closed(long session, String reason) {
        if (peers.remove(session) != null) {
            apply(it -> it.closed(session, reason, nowMs()));
        }
    }

    /** A session says something. Once it is closed nothing more of it counts, though frames that were read with the last one follow. */
    public void receive(long session, Message message) {
        if (peers.containsKey(session)) {
            apply(it -> it.receive(session, message, nowMs()));
        }
    }

    /** Runs an input; on the event loop. */
    public void apply(Consumer<MasterCore> input) {
        run(() -> {
            inputs++;
            input.accept(core);
            perform();
        });
    }

    private void run(Runnable work) {
        if (defective) {
            return;
        }
        try {
            work.run();
        } catch (ViewDefect e) {
            replaceCore(e);
        } catch (Throwable e) { // an Error too: Netty would log it, and go on without what it was thrown out of
            defect("the core of this master has thrown", e);
        }
    }

    private void replaceCore(ViewDefect defect) {
        try {
            dropView(defect);
        } catch (Throwable e) {
            e.addSuppressed(defect);
            defect("the core of this master cannot be replaced", e);
        }
    }

    /**
     * The view may be half changed. It is never mended: every connection ends, a new core begins, and the node or client whose message did
     * that is left out, or every master would end again and again over the same record or request.
     */
    private void dropView(ViewDefect defect) {
        LOG.error("a defect of kvpool: this master drops its view and builds it again without that peer", defect);
        defect.client().ifPresent(this::setApart);
        Authority ours = core.authority();
        core = core.withoutView(defect, nowMs());
        List<UnsentMessages.Peer> open = List.copyOf(peers.values());
        peers.clear();
        unflushed.clear();
        open.forEach(peer -> peer.channel().close());
        if (!ours.equals(Authority.NONE)) {
            leaders.lostView(ours);
        }
        perform();
    }

    private void setApart(long session) {
        UnsentMessages.Peer client = peers.get(session);
        if (client != null) {
            LOG.warn("{}", setApart.setApart(client.principal(), client.process(), nowMs()));
        }
    }

    /** What was thrown here, or close to here, leaves nothing to rely on. */
    public void defect(String what, Throwable cause) {
        if (!defective) {
            defective = true;
            defects.found(what, cause);
        }
    }

    /** Runs an input from any thread. */
    public void submit(Consumer<MasterCore> input) {
        loop.execute(() -> apply(input));
    }

    /** Asks from any thread for what changes nothing. */
    public <T> CompletableFuture<T> ask(Function<MasterCore, T> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        submit(it -> {
            try {
                answer.complete(question.apply(it));
            } catch (RuntimeException | AssertionError | StackOverflowError e) {
                LOG.error("a defect of kvpool: a question about the pool cannot be answered", e);
                answer.completeExceptionally(e);
            }
        });
        return answer;
    }

    /**
     * Asks from any thread for a change, on behalf of those who use the admin endpoint. A request over which the core throws fails and costs the
     * view, as a client's does; further ones of the same principal are refused for a while.
     *
     * @param principal what their requests have in common
     * @param answer fails when the request does
     */
    public void request(String principal, CompletableFuture<?> answer, Consumer<MasterCore> request) {
        submit(it -> {
            Optional<Objection> objection = setApart.objection(principal, nowMs());
            if (objection.isPresent()) {
                answer.completeExceptionally(
                        new IllegalStateException(objection.get().message()));
                return;
            }
            try {
                request.accept(it);
            } catch (RuntimeException | AssertionError | StackOverflowError e) {
                LOG.warn("{}", setApart.setApart(principal, nowMs()));
                answer.completeExceptionally(e);
                throw ViewDefect.overRequest(e);
            }
        });
    }

    /** Runs an input from any thread; done when all it led to is on its way. */
    public CompletableFuture<Boolean> deliver(Consumer<MasterCore> input) {
        CompletableFuture<Boolean> delivered = new CompletableFuture<>();
        loop.execute(() -> {
            apply(input);
            run(this::flush);
            delivered.complete(true);
        });
        return delivered;
    }

    private void perform() {
        List<Action> actions = core.drain();
        logs.accept(actions);
        for (Action action : actions) {
            switch (action) {
                case Action.Send it -> send(it.session(), it.message());
                case Action.Close it -> close(it.session(), it.reason());
                case Action.RaiseEpoch it -> leaders.raiseAbove(it.above());
                case Action.StoreRegister it -> leaders.store(it.leader(), it.register());
                case Action.LookAtLease it -> leaders.left();
                case Action.HandOver it -> leaders.handsOver();
                case Action.LeaderCrashed it -> leaders.crashed(it.authority(), it.address());
                case Action.LeaderSilent it -> leaders.silent(it);
                case Action.Report it ->
                    LOG.atLevel(it.warns() ? Level.WARN : Level.INFO).log("{}", it.line());
                case Action.Evicted it -> {} // the eviction log has it
                case Action.Changed it -> {} // the event streams have it
            }
        }
        if (unsent.isTooMuch()) {
            flush();
            keepToUnsentMax();
        }
        if (!unflushed.isEmpty() && !flushing) {
            flushing = true;
            loop.execute(() -> run(this::flush));
        }
    }

    /** Messages of the inputs that are handled in one go leave together. */
    private void flush() {
        flushing = false;
        Set<Channel> ready = Set.copyOf(unflushed);
        unflushed.clear();
        ready.forEach(Channel::flush);
    }

    private void keepToUnsentMax() {
        for (Optional<UnsentMessages.Peer> worst = unsent.takeWorst(); worst.isPresent(); worst = unsent.takeWorst()) {
            UnsentMessages.Peer peer = worst.get();
            counts.countOverflow();
            LOG.info(
                    "closing the connection of {}: it lets answers wait, and with others of the same peer more than any other peer does; together they fill the memory for them",
                    peer.channel().remoteAddress());
            unflushed.remove(peer.channel());
            closeAtOnce(peer.channel()); // its session hears of that
        }
    }

    private void send(long session, Message message) {
        if (session == MasterCore.LOCAL_SESSION) {
            localReplies.accept(message);
            return;
        }
        UnsentMessages.Peer peer = peers.get(session);
        if (peer == null) {
            return;
        }
        if (peer.hasTooMuch()) {
            counts.countOverflow();
            close(session, "the peer does not read: " + UnsentMessages.CONNECTION_BYTES_MAX + " bytes wait to be sent");
            return;
        }
        unsent.write(peer, message).addListener(written -> {
            if (!written.isSuccess()) {
                close(session, "cannot send: " + written.cause());
            }
        });
        unflushed.add(peer.channel());
    }

    private void close(long session, String reason) {
        UnsentMessages.Peer peer = peers.remove(session);
        if (peer == null) {
            return;
        }
        Channel channel = peer.channel();
        LOG.info("closing the connection of {}: {}", channel.remoteAddress(), reason);
        unflushed.remove(channel);
        if (peer.isSlow()) {
            closeAtOnce(channel);
        } else {
            channel.close();
        }
        // Not here: close may be one action of many, and the core must not be entered from within.
        loop.execute(() -> apply(it -> it.closed(session, reason, nowMs())));
    }

    /** TLS is not asked: it would keep what waits until the peer has read that, or some seconds. */
    private static void closeAtOnce(Channel channel) {
        channel.pipeline().firstContext().close();
    }
}
