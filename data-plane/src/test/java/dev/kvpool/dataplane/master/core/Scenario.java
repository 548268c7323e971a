// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantTarget;
import dev.kvpool.dataplane.wire.message.ClientReply.HintReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Hinted;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeLeaves;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Hint;
import dev.kvpool.wire.PutOutcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One pool for given/when/then tests: masters and nodes without delays, and a client whose calls return the answer. {@link
 * #master} is the one that the client talks to.
 */
final class Scenario {
    static final long OBJECT_LEASE_MS = 10_000;
    static final long LEASE_DURATION_MS = 5_000;
    static final long REPAIR_DELAY_MS = 30_000;
    static final long REPAIR_BYTES_PER_SECOND = 1 << 20;
    private static final long FOR_EVER_MS = 1L << 40;

    final World world = new World(1, 0);
    final Map<String, ModelNode> nodes = new HashMap<>();
    private final Set<String> expected = new LinkedHashSet<>();
    private final List<ModelMaster> masters = new ArrayList<>();
    private final Map<Long, ClientReply> replies = new HashMap<>();
    private Link client;
    private Tenant tenant = Tenant.DEFAULT;
    private ModelMaster talkedTo;
    private int replicas = 1;
    private int askedReplicas;
    private Consistency consistency = Consistency.STRICT;
    private EvictionRules rules = EvictionRules.between(0.50, 0.90);
    private Retention retention = Retention.NONE;
    private boolean keepsSoftPin;
    private boolean evictionsTold = true;
    private long recordBytes = Slabs.BYTES_NAMED;
    private int wireMax = Integer.MAX_VALUE;
    private long lastRequest;

    /** Expected nodes; they connect to a master when it is started. */
    Scenario withNodes(long capacityBytes, String... ids) {
        for (String id : ids) {
            expected.add(id);
            nodes.put(id, new ModelNode(world, id, capacityBytes, false));
        }
        return this;
    }

    /** Every node gets an SSD. */
    Scenario withSsd(long capacityBytes) {
        nodes.values().forEach(node -> node.addSsd(capacityBytes));
        return this;
    }

    Scenario withReplicas(int count) {
        replicas = count;
        return this;
    }

    /** Masters made from now on go by it. */
    Scenario with(Consistency masters) {
        consistency = masters;
        return this;
    }

    /** What puts from now on ask for; 0 = as many as the pool wants. */
    Scenario withReplicasOfPuts(int count) {
        askedReplicas = count;
        return this;
    }

    /** One that the configuration does not name, and that has not dialled anybody yet. */
    ModelNode unexpectedNode(String id, long capacityBytes) {
        ModelNode node = new ModelNode(world, id, capacityBytes, false);
        nodes.put(id, node);
        return node;
    }

    ModelNode transientNode(String id, long capacityBytes) {
        ModelNode node = new ModelNode(world, id, capacityBytes, true);
        nodes.put(id, node);
        return node;
    }

    /** When masters made from now on evict. */
    Scenario withRules(EvictionRules evictionRules) {
        rules = evictionRules;
        return this;
    }

    /** What the records of the index of masters made from now on may take. */
    Scenario withRecordBytes(long bytes) {
        recordBytes = bytes;
        return this;
    }

    /** Masters made from now on are of a build that knows no later version of the wire. */
    Scenario withWireMax(int highest) {
        wireMax = highest;
        return this;
    }

    /** Masters made from now on have no eviction log. */
    Scenario withoutEvictionLog() {
        evictionsTold = false;
        return this;
    }

    /** From now on puts ask for a soft pin of what they replace. */
    Scenario keepingSoftPins() {
        keepsSoftPin = true;
        return this;
    }

    /** What keeps the objects of puts from now on. */
    Scenario keeping(Retention kept) {
        retention = kept;
        return this;
    }

    /** A new master that every node has dialled. */
    ModelMaster master() {
        ModelMaster master = lonelyMaster();
        nodes.values().forEach(node -> node.dial(master));
        world.run(0);
        return master;
    }

    /** A new master that no node has dialled yet. */
    ModelMaster lonelyMaster() {
        CoreSettings settings = new CoreSettings(
                "master-" + masters.size(),
                PlainSettings.rules(
                        OBJECT_LEASE_MS, rules, replicas, REPAIR_DELAY_MS, REPAIR_BYTES_PER_SECOND, consistency),
                LEASE_DURATION_MS,
                0,
                evictionsTold,
                recordBytes,
                wireMax,
                false);
        ModelMaster master = new ModelMaster(world, settings, expected);
        masters.add(master);
        return master;
    }

    /** A master that leads with this epoch and, when every node is there, serves. */
    Scenario leading(long epoch) {
        ModelMaster master = master();
        lead(master, epoch);
        return talkTo(master);
    }

    Scenario lead(ModelMaster master, long epoch) {
        master.lead(authority(epoch), FOR_EVER_MS);
        world.run(0);
        return this;
    }

    static Authority authority(long epoch) {
        return new Authority(epoch, 1000 + epoch);
    }

    Scenario talkTo(ModelMaster master) {
        talkedTo = master;
        client = master.connectClient(this::heard, () -> {}).orElseThrow();
        return this;
    }

    /** The client has a certificate of this tenant from now on, on a connection of its own. */
    Scenario as(Tenant whose) {
        tenant = whose;
        client = talkedTo.connectClient(Optional.of(whose), this::heard, () -> {})
                .orElseThrow();
        return this;
    }

    void disconnect() {
        client.end("the client went away");
        world.run(0);
    }

    ModelMaster talkedTo() {
        return talkedTo;
    }

    ModelNode node(String id) {
        return nodes.get(id);
    }

    /** A node dies; its segment file stays. */
    void crash(String id) {
        nodes.get(id).crash();
        world.run(0);
    }

    /** A transient node ends in order. */
    void leave(String id) {
        nodes.get(id).tellAll(new NodeLeaves());
        world.run(0);
        crash(id);
    }

    /** A dead node starts again and dials every master. */
    void restart(String id) {
        nodes.get(id).start();
        masters.forEach(nodes.get(id)::dial);
        world.run(0);
    }

    /** The master that the client talks to loses its Lease. */
    void standBy() {
        talkedTo.standBy();
        world.run(0);
    }

    /** The configuration changes. */
    void expectOnly(String... ids) {
        Map<String, String> zones = new HashMap<>();
        List.of(ids).forEach(id -> zones.put(id, ""));
        expect(zones);
    }

    /** Why a node does not take part, as the master says. */
    String reason(String node) {
        return talkedTo.status().nodes().stream()
                .filter(it -> it.id().equals(node))
                .findFirst()
                .orElseThrow()
                .reason();
    }

    /** The configuration says which nodes should be there, and in which zones. */
    void expect(Map<String, String> zones) {
        masters.forEach(master -> master.core().expectNodes(zones, world.nowMs()));
    }

    /** Puts so many objects of 1000 bytes, under the prefix and their number. */
    void fill(String prefix, int objects) {
        for (int i = 0; i < objects; i++) {
            assertThat(put(prefix + i, 1000)).isEqualTo(Status.OK);
        }
    }

    /** How many of them a node has in its memory; asks no master, so leases nothing. */
    long present(String node, String prefix, int objects) {
        long present = 0;
        for (int i = 0; i < objects; i++) {
            String key = prefix + i;
            present += node(node).directory().stream()
                    .filter(line -> line.key().toString().equals(key))
                    .count();
        }
        return present;
    }

    private void heard(Message message) {
        if (message instanceof ClientReply reply) {
            replies.put(reply.requestId(), reply);
        }
    }

    // ---- what a client does -------------------------------------------------------------------------------------

    long nextRequest() {
        return ++lastRequest;
    }

    void beat() {
        client.toMaster(new Heartbeat());
        world.run(0);
    }

    void send(ClientRequest request) {
        client.toMaster(request);
        world.run(0);
    }

    /** The answer to a request; fails the test when there is none yet. */
    <R extends ClientReply> R reply(long requestId, Class<R> type) {
        if (!replies.containsKey(requestId)) {
            throw new AssertionError("no answer to request " + requestId + "; the master says " + talkedTo.reports());
        }
        return type.cast(replies.get(requestId));
    }

    boolean isAnswered(long requestId) {
        return replies.containsKey(requestId);
    }

    /** Lets time go by with a client that says something now and then: a silent one is cut off. */
    void pass(long ms) {
        for (long passed = 0; passed < ms; passed += 5_000) {
            lookup();
            world.run(Math.min(5_000, ms - passed));
        }
    }

    GrantReply grant(String key, long payloadLength) {
        return grant(key, payloadLength, 30_000);
    }

    GrantReply grant(String key, long payloadLength, long deadlineMs) {
        return grant(key, payloadLength, deadlineMs, false);
    }

    GrantReply grant(String key, long payloadLength, long deadlineMs, boolean replace) {
        return reply(beginGrant(key, payloadLength, deadlineMs, replace), GrantReply.class);
    }

    long beginGrant(String key, long payloadLength, long deadlineMs, boolean replace) {
        GrantRequest request = new GrantRequest(
                nextRequest(),
                askedReplicas,
                deadlineMs,
                replace,
                List.of(new GrantKey(Key.of(key), payloadLength, retention, keepsSoftPin)),
                "");
        send(request);
        return request.requestId();
    }

    /** Of one copy, to be on one of these nodes, the first first. */
    GrantReply grantPreferring(String key, String nodes) {
        GrantRequest request =
                new GrantRequest(nextRequest(), 1, 30_000, false, List.of(new GrantKey(Key.of(key), 100)), nodes);
        send(request);
        return reply(request.requestId(), GrantReply.class);
    }

    /** Whether a put of one copy was sent to this node. */
    boolean grantOne(String key, String node) {
        GrantRequest request =
                new GrantRequest(nextRequest(), 1, 30_000, false, List.of(new GrantKey(Key.of(key), 100)), "");
        send(request);
        return reply(request.requestId(), GrantReply.class)
                .nodes()
                .getFirst()
                .nodeId()
                .equals(node);
    }

    /** Writes to every node of the grant; the incarnations of those that committed. */
    List<Long> write(GrantReply reply, String key, long payloadLength) {
        GrantLine line = reply.grants().getFirst();
        Retention granted = line.retention();
        Retention written = Retention.of(granted.soft(), granted.hard(), granted.softMs(), retention.group());
        List<Long> committed = new ArrayList<>();
        for (GrantTarget target : line.targets()) {
            ModelNode node = nodes.get(reply.nodes().get(target.node()).nodeId());
            Status status = node.write(
                    reply.authority(),
                    line.objectId(),
                    tenant.qualify(Key.of(key)),
                    payloadLength,
                    key.hashCode(),
                    written);
            if (status == Status.OK) {
                committed.add(node.incarnation());
            }
        }
        return committed;
    }

    /** Asks to publish and returns the request's id: the answer may have to wait. */
    long publish(ObjectId id, String key, List<Long> incarnations) {
        PutOutcome outcome = incarnations.isEmpty() ? PutOutcome.FAILED : PutOutcome.WRITTEN;
        return publish(id, key, incarnations, outcome);
    }

    long publish(ObjectId id, String key, List<Long> incarnations, PutOutcome outcome) {
        long requestId = nextRequest();
        send(new PublishRequest(requestId, List.of(new Put(id, outcome, incarnations, Key.of(key)))));
        return requestId;
    }

    Status published(long requestId) {
        PublishReply reply = reply(requestId, PublishReply.class);
        return reply.status() == Status.OK ? reply.results().getFirst() : reply.status();
    }

    /** Grant, write, publish. */
    Status put(String key, long payloadLength) {
        return put(key, payloadLength, grant(key, payloadLength));
    }

    /** The same with a grant that replaces what the key has. */
    Status upsert(String key, long payloadLength) {
        return put(key, payloadLength, grant(key, payloadLength, 30_000, true));
    }

    private Status put(String key, long payloadLength, GrantReply reply) {
        if (reply.status() != Status.OK || reply.grants().getFirst().status() != Status.OK) {
            return reply.status() != Status.OK
                    ? reply.status()
                    : reply.grants().getFirst().status();
        }
        List<Long> committed = write(reply, key, payloadLength);
        return published(publish(reply.grants().getFirst().objectId(), key, committed));
    }

    LookupReply lookup(String... keys) {
        LookupRequest request = new LookupRequest(nextRequest(), keys(keys));
        send(request);
        return reply(request.requestId(), LookupReply.class);
    }

    Found find(String key) {
        LookupReply reply = lookup(key);
        return reply.status() == Status.OK
                ? reply.objects().getFirst()
                : new Found(reply.status(), ObjectId.NONE, 0, 0, List.of());
    }

    Status exists(String key) {
        ExistsRequest request = new ExistsRequest(nextRequest(), keys(key));
        send(request);
        ExistsReply reply = reply(request.requestId(), ExistsReply.class);
        return reply.status() == Status.OK ? reply.results().getFirst().status() : reply.status();
    }

    /** A removal whose answer may come later; its request. */
    long beginRemoval(String key, boolean force) {
        RemoveRequest request = new RemoveRequest(nextRequest(), force, keys(key));
        send(request);
        return request.requestId();
    }

    Status remove(String key, boolean force) {
        RemoveReply reply = reply(beginRemoval(key, force), RemoveReply.class);
        return reply.status() == Status.OK ? reply.results().getFirst() : reply.status();
    }

    /** Removes the copy in the memory of a node. */
    Status removeCopy(String key, String node, boolean force) {
        RemoveRequest request = new RemoveRequest(nextRequest(), force, false, keys(key), node);
        send(request);
        RemoveReply reply = reply(request.requestId(), RemoveReply.class);
        return reply.status() == Status.OK ? reply.results().getFirst() : reply.status();
    }

    List<Status> removeEach(boolean force, String... keys) {
        RemoveRequest request = new RemoveRequest(nextRequest(), force, keys(keys));
        send(request);
        return reply(request.requestId(), RemoveReply.class).results();
    }

    RemoveAllReply removeAll(boolean force) {
        return removeMatching("", force);
    }

    RemoveAllReply removeMatching(String pattern, boolean force) {
        RemoveAllRequest request = new RemoveAllRequest(nextRequest(), force, pattern);
        send(request);
        world.run(20);
        return reply(request.requestId(), RemoveAllReply.class);
    }

    /** The same where the answer has to come at once. */
    RemoveAllReply removeAllAtOnce(boolean force) {
        RemoveAllRequest request = new RemoveAllRequest(nextRequest(), force, "");
        send(request);
        return reply(request.requestId(), RemoveAllReply.class);
    }

    /** What a hint about one key, or with {@code ofGroup} about a group, is answered with. */
    Hinted hint(Hint hint, long forMs, boolean ofGroup, String name) {
        HintRequest request = new HintRequest(nextRequest(), hint, forMs, ofGroup, keys(name));
        send(request);
        HintReply reply = reply(request.requestId(), HintReply.class);
        return reply.status() == Status.OK ? reply.results().getFirst() : new Hinted(reply.status(), 0);
    }

    Status removeGroup(String name, boolean force) {
        RemoveRequest request = new RemoveRequest(nextRequest(), force, true, keys(name));
        send(request);
        RemoveReply reply = reply(request.requestId(), RemoveReply.class);
        return reply.status() == Status.OK ? reply.results().getFirst() : reply.status();
    }

    private static List<Key> keys(String... keys) {
        return List.of(keys).stream().map(Key::of).toList();
    }
}
