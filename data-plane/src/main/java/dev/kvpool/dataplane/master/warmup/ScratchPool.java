// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.warmup;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.master.loop.ConnectionCounts;
import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * A pool in one thread and nowhere else: a core of its own that leads, behind the loop, the frames and the messages of a real
 * master, a node that takes every object and a client that puts, reads and removes.
 */
final class ScratchPool implements AutoCloseable {
    private static final String NODE = "scratch-node";
    private static final long INCARNATION = 1;
    private static final long FOREVER_MS = 86_400_000;
    private static final long GRANT_MS = 30_000;
    private static final long PAYLOAD_BYTES = 4_096;
    static final int BATCH = 32;
    private static final int TICK_EVERY = 8;
    private static final CoreLoop.Leaders NO_ELECTION = new CoreLoop.Leaders() {
        @Override
        public void raiseAbove(long epoch) {}

        @Override
        public void store(Authority leader, Register register) {}

        @Override
        public void lostView(Authority ours) {}

        @Override
        public void handsOver() {}

        @Override
        public void left() {}

        @Override
        public void crashed(Authority authority, String address) {}

        @Override
        public void silent(Action.LeaderSilent what) {}
    };

    private final LongSupplier clockMs;
    private final MasterCore core;
    private final CoreLoop loop;
    private final long nodeSession;
    private final ScratchConnection node = new ScratchConnection();
    private final ScratchConnection client = new ScratchConnection();
    private final ScratchNode directory = new ScratchNode(INCARNATION);
    private long rounds;
    private long terms;
    private boolean defective;

    ScratchPool(CoreSettings rules, LongSupplier clockMs) {
        this.clockMs = clockMs;
        MasterCore core = new MasterCore(alone(rules), Set.of(NODE), new Random(1), new Random(2));
        loop = new CoreLoop(
                core,
                client.eventLoop(),
                clockMs,
                NO_ELECTION,
                reply -> {},
                actions -> {},
                new ConnectionCounts(),
                (_, _) -> defective = true);
        this.core = core;
        nodeSession = node.open(loop);
        begin(client.open(loop));
    }

    /** One copy of each object, since there is one node. */
    private static CoreSettings alone(CoreSettings rules) {
        CacheRules cache = rules.cache();
        CacheRules single = new CacheRules(
                cache.objectLeaseMs(),
                cache.eviction(),
                1,
                cache.repairDelayMs(),
                cache.repairBytesPerSecond(),
                Consistency.STRICT,
                Quotas.NONE);
        return new CoreSettings(
                rules.name(), single, rules.leaseDurationMs(), 0, false, Slabs.BYTES_NAMED, Integer.MAX_VALUE, false);
    }

    private void begin(long clientSession) {
        long now = clockMs.getAsLong();
        core.nodeConnected(nodeSession, new NodePeer(NODE, INCARNATION, "scratch"), now);
        core.clientConnected(clientSession, now);
        directory.introduction().forEach(message -> core.receive(nodeSession, message, now));
        lead(now);
    }

    /** Until the core serves; past the loop, which would log how somebody leads who does not. */
    private void lead(long now) {
        terms++;
        core.lead(new Authority(terms, 1), now + FOREVER_MS, now, Register.NONE, now);
        List<Action> actions = core.drain();
        while (!actions.isEmpty()) {
            for (Action action : actions) {
                if (action instanceof Action.Send(long session, Message command) && session == nodeSession) {
                    directory.obey(command).forEach(answer -> core.receive(nodeSession, answer, now));
                }
                if (action instanceof Action.StoreRegister store) {
                    core.registerStored(store.register(), now);
                }
            }
            actions = core.drain();
        }
    }

    /** Clients ask for the leader while it stands by; then it leads. */
    void takeOver() {
        long now = clockMs.getAsLong();
        core.standBy("warm-up", now);
        core.drain();
        for (int i = 0; i < BATCH; i++) {
            client.send(new ExistsRequest(i, List.of()));
        }
        deliver();
        while (client.heard() != null) {
            // All but the last were answered by the one after them.
        }
        lead(now);
        require(ask(ExistsReply.class, new ExistsRequest(BATCH, List.of())).status());
    }

    /** A batch is put, looked for, read and removed. */
    void round() {
        List<Key> keys = new ArrayList<>(BATCH);
        for (int i = 0; i < BATCH; i++) {
            keys.add(Key.of("scratch-" + rounds + "-" + i));
        }
        put(keys);
        require(ask(ExistsReply.class, new ExistsRequest(rounds, keys)).status());
        require(ask(LookupReply.class, new LookupRequest(rounds, keys)).status());
        ask(RemoveReply.class, new RemoveRequest(rounds, true, keys)).results().forEach(ScratchPool::require);
        if (rounds % TICK_EVERY == 0) {
            loop.apply(core -> core.tick(clockMs.getAsLong()));
            deliver();
        }
        rounds++;
    }

    private void put(List<Key> keys) {
        List<GrantKey> wanted = new ArrayList<>(keys.size());
        keys.forEach(key -> wanted.add(new GrantKey(key, PAYLOAD_BYTES)));
        GrantReply granted = ask(GrantReply.class, new GrantRequest(rounds, 1, GRANT_MS, false, wanted, ""));
        List<DirectoryRecord> records = new ArrayList<>(keys.size());
        List<Put> puts = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            GrantLine line = granted.grants().get(i);
            require(line.status());
            records.add(directory.store(line.objectId(), keys.get(i), PAYLOAD_BYTES));
            puts.add(new Put(line.objectId(), PutOutcome.WRITTEN, List.of(INCARNATION), keys.get(i)));
        }
        node.send(directory.changes(records));
        ask(PublishReply.class, new PublishRequest(rounds, puts)).results().forEach(ScratchPool::require);
    }

    /** As its own core sees it. */
    PoolStatus status() {
        AtomicReference<PoolStatus> status = new AtomicReference<>();
        loop.apply(core -> status.set(core.status()));
        return status.get();
    }

    private <R extends ClientReply> R ask(Class<R> type, ClientRequest request) {
        client.send(request);
        deliver();
        Message reply = client.heard();
        while (reply != null && !type.isInstance(reply)) {
            reply = client.heard();
        }
        if (reply == null) {
            throw new IllegalStateException(
                    "no " + type.getSimpleName() + " came" + (defective ? ", by a defect" : ""));
        }
        return type.cast(reply);
    }

    /** Lets the node obey until it is asked for nothing more. */
    private void deliver() {
        client.flush();
        node.flush();
        Message command = node.heard();
        while (command != null) {
            directory.obey(command).forEach(node::send);
            client.flush();
            node.flush();
            command = node.heard();
        }
    }

    private static void require(Status status) {
        if (status != Status.OK) {
            throw new IllegalStateException("a line gave " + status);
        }
    }

    @Override
    public void close() {
        client.close();
        node.close();
    }
}
