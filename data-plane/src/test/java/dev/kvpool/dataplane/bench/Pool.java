// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/** A master's core with modelled nodes, all in the calling thread, in real time that can be moved on. */
final class Pool {
    static final long EPOCH = 2;
    private static final long DAY_MS = 86_400_000;
    /** No node has it: theirs count from 1. */
    private static final long CLIENT = 1L << 32;

    final MasterCore core;
    final List<BenchNode> nodes = new ArrayList<>();
    private final Clock clock;
    private long skippedMs;

    Pool(Clock clock, int nodeCount, int replicas, long objectsANode, EvictionRules eviction) {
        this.clock = clock;
        Set<String> names = new TreeSet<>();
        for (int i = 0; i < nodeCount; i++) {
            nodes.add(new BenchNode(i + 1, objectsANode));
            names.add(nodes.get(i).name());
        }
        CoreSettings settings = PlainSettings.of("bench", 5_000, eviction, replicas, 30_000, 1L << 28);
        core = new MasterCore(settings, names, new Random(1), new Random(1));
        core.clientConnected(CLIENT, nowMs());
        for (BenchNode node : nodes) {
            core.nodeConnected(node.session(), new NodePeer(node.name(), node.incarnation(), "bench"), nowMs());
            tell(node, node.introduction());
        }
    }

    long nowMs() {
        return clock.nanos() / 1_000_000 + skippedMs;
    }

    void skip(long ms) {
        skippedMs += ms;
        tick();
    }

    void lead() {
        core.lead(new Authority(EPOCH, 1), nowMs() + DAY_MS, nowMs() + 5_000, Register.NONE, nowMs());
        deliver();
    }

    void tick() {
        nodes.forEach(node -> tell(node, new Heartbeat()));
        core.receive(CLIENT, new Heartbeat(), nowMs());
        core.tick(nowMs());
        deliver();
    }

    void tell(BenchNode node, Message message) {
        core.receive(node.session(), message, nowMs());
    }

    /** Asks as a client does, and lets the nodes do what follows; the reply must come at once. */
    ClientReply ask(ClientRequest request) {
        core.receive(CLIENT, request, nowMs());
        return deliver();
    }

    /** Carries commands to the nodes and their answers back until nothing is left; the last reply to the client. */
    ClientReply deliver() {
        ClientReply reply = null;
        List<Action> actions = core.drain();
        while (!actions.isEmpty()) {
            for (Action action : actions) {
                switch (action) {
                    case Action.Send(long session, ClientReply it) -> reply = it;
                    case Action.Send(long session, Fence it) -> answer(session, it);
                    case Action.Send(long session, Free it) -> answer(session, it);
                    case Action.Send other -> {}
                    case Action.StoreRegister it -> core.registerStored(it.register(), nowMs());
                    case Action.Evicted evicted -> {}
                    case Action.Changed changed -> {}
                    case Action.Report it -> System.out.println("    " + it.line());
                    case Action.Close(long session, String reason) -> throw new IllegalStateException(reason);
                    default -> throw new IllegalStateException("the core asked for " + action);
                }
            }
            actions = core.drain();
        }
        return reply;
    }

    BenchNode node(long incarnation) {
        return nodes.get((int) (incarnation - nodes.getFirst().incarnation()));
    }

    private void answer(long session, Fence fence) {
        BenchNode node = nodes.get((int) session - 1);
        tell(node, node.obey(fence));
    }

    private void answer(long session, Free free) {
        BenchNode node = nodes.get((int) session - 1);
        node.free(free).forEach(message -> tell(node, message));
    }
}
