// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/** A client as the contract says it behaves: it finds the leader, retries inside a deadline, and never trusts one answer. */
final class ModelClient {
    private static final long DEADLINE_MS = 10_000;
    private static final long ANSWER_MS_MAX = 3_000;
    private static final long PAYLOAD_BYTES = 100;

    private final World world;
    private final List<ModelMaster> masters;
    private final Map<String, ModelNode> nodes;
    private final History history;
    private final Map<Long, Consumer<ClientReply>> waiting = new HashMap<>();
    private Link link;
    private int turn;
    private long lastRequest;

    ModelClient(World world, List<ModelMaster> masters, Map<String, ModelNode> nodes, History history) {
        this.world = world;
        this.masters = masters;
        this.nodes = nodes;
        this.history = history;
    }

    // ---- put ----------------------------------------------------------------------------------------------------

    void put(Key key) {
        int value = history.begin(key);
        put(key, value, world.nowMs() + DEADLINE_MS);
    }

    private void put(Key key, int value, long untilMs) {
        long leftMs = untilMs - world.nowMs();
        if (leftMs <= 0) {
            return;
        }
        Runnable again = () -> world.in(50 + world.random.nextInt(200), () -> put(key, value, untilMs));
        call(
                id -> new GrantRequest(id, 0, leftMs, false, List.of(new GrantKey(key, PAYLOAD_BYTES)), ""),
                reply -> granted(key, value, (GrantReply) reply, again),
                again);
    }

    private void granted(Key key, int value, GrantReply reply, Runnable again) {
        if (reply.status() != Status.OK) {
            again.run();
            return;
        }
        ClientReply.GrantLine line = reply.grants().getFirst();
        switch (line.status()) {
            case OK -> write(key, value, reply, line, again);
            case EXISTS -> {}
            default -> again.run();
        }
    }

    private void write(Key key, int value, GrantReply reply, ClientReply.GrantLine line, Runnable again) {
        List<Long> committed = new ArrayList<>();
        int[] open = {line.targets().size()};
        for (int target : line.targets()) {
            ClientReply.NodeRef named = reply.nodes().get(target);
            long slowMs = world.random.nextInt(50) == 0 ? world.random.nextInt(12_000) : world.delayMs();
            world.in(slowMs, () -> {
                Status status = write(named, reply.authority(), line.objectId(), key, value);
                world.in(world.delayMs(), () -> {
                    if (status == Status.OK) {
                        committed.add(named.incarnation());
                    }
                    open[0]--;
                    if (open[0] == 0) {
                        publish(key, value, line.objectId(), committed, again);
                    }
                });
            });
        }
    }

    private Status write(ClientReply.NodeRef named, Authority authority, ObjectId id, Key key, int value) {
        ModelNode node = nodes.get(named.nodeId());
        return node.incarnation() == named.incarnation()
                ? node.write(authority, id, key, PAYLOAD_BYTES, value)
                : Status.IDENTITY_MISMATCH;
    }

    private void publish(Key key, int value, ObjectId id, List<Long> committed, Runnable again) {
        PutOutcome outcome = committed.isEmpty() ? PutOutcome.FAILED : PutOutcome.WRITTEN;
        call(
                request -> new PublishRequest(request, List.of(new Put(id, outcome, committed, key))),
                reply -> {
                    PublishReply published = (PublishReply) reply;
                    boolean done = published.status() == Status.OK
                            && published.results().getFirst() == Status.OK
                            && outcome == PutOutcome.WRITTEN;
                    if (done) {
                        history.acknowledge(value, id);
                    } else {
                        again.run();
                    }
                },
                again);
    }

    // ---- get and remove -----------------------------------------------------------------------------------------

    void get(Key key) {
        long begunMs = world.nowMs();
        find(key, (found, reply) -> {
            if (found.status() == Status.OK && !found.replicas().isEmpty()) {
                ClientReply.ReplicaRef replica = found.replicas().getFirst();
                ClientReply.NodeRef named = reply.nodes().get(replica.node());
                world.in(world.delayMs(), () -> read(key, found, named, replica, begunMs));
            }
        });
    }

    /** Reads as a node serves: only the very extent that was named, and only if it still holds that object. */
    private void read(Key key, Found found, ClientReply.NodeRef named, ClientReply.ReplicaRef replica, long begunMs) {
        ModelNode node = nodes.get(named.nodeId());
        for (DirectoryRecord record : node.directory()) {
            boolean same = record.extent().equals(replica.extent())
                    && record.objectId().equals(found.objectId())
                    && node.incarnation() == named.incarnation();
            if (same) {
                history.read(key, record.payloadCrc(), begunMs);
            }
        }
    }

    void find(Key key, java.util.function.BiConsumer<Found, LookupReply> answer) {
        call(
                id -> new LookupRequest(id, List.of(key)),
                reply -> {
                    LookupReply lookup = (LookupReply) reply;
                    if (lookup.status() == Status.OK) {
                        answer.accept(lookup.objects().getFirst(), lookup);
                    }
                },
                () -> {});
    }

    void remove(Key key, boolean force) {
        List<Integer> gone = history.present(key);
        history.removalBegins(key, force);
        call(
                id -> new RemoveRequest(id, force, List.of(key)),
                reply -> removed(key, force, gone, (RemoveReply) reply),
                () -> history.removalUncertain(key));
    }

    private void removed(Key key, boolean force, List<Integer> gone, RemoveReply reply) {
        Status result = reply.status() == Status.OK ? reply.results().getFirst() : reply.status();
        switch (result) {
            case OK -> {
                history.removed(gone);
                history.removalEnds(key, force);
            }
            case NOT_FOUND, HAS_LEASE, BUSY -> history.removalEnds(key, force);
            default -> history.removalUncertain(key);
        }
    }

    // ---- calls --------------------------------------------------------------------------------------------------

    private void call(LongFunction<ClientRequest> request, Consumer<ClientReply> onReply, Runnable onFailure) {
        if (!connect()) {
            world.in(100, onFailure);
            return;
        }
        lastRequest++;
        long id = lastRequest;
        waiting.put(id, onReply);
        link.toMaster(request.apply(id));
        world.in(ANSWER_MS_MAX, () -> {
            if (waiting.remove(id) != null) {
                leaveMaster();
                onFailure.run();
            }
        });
    }

    private boolean connect() {
        if (link == null || !link.isOpen()) {
            turn++;
            ModelMaster next = masters.get(turn % masters.size());
            link = next.connectClient(this::heard, () -> {}).orElse(null);
        }
        return link != null;
    }

    private void heard(Message message) {
        if (message instanceof ClientReply reply) {
            Consumer<ClientReply> consumer = waiting.remove(reply.requestId());
            if (reply.status() == Status.NOT_LEADER) {
                leaveMaster();
            }
            if (consumer != null) {
                consumer.accept(reply);
            }
        }
    }

    private void leaveMaster() {
        if (link != null) {
            link.end("the client looks for the leader");
            link = null;
        }
    }
}
