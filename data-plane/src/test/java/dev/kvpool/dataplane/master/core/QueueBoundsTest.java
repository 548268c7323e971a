// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.RefusalCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What waits in a leader is bounded; who comes when a bound is reached is told so, and let in again afterwards. */
class QueueBoundsTest {
    private static final long MIB = 1 << 20;
    private static final int SWEPT = 1_500;

    private static long count(Scenario pool, Count what) {
        return pool.talkedTo().status().counters().get(what);
    }

    private static Key key(int number) {
        return Key.of("k" + number);
    }

    // ---- peers ----------------------------------------------------------------------------------------------------

    @Test
    void clientsAreRefusedBeyondTheirBound() {
        MasterCore core = core();
        for (int session = 1; session <= Bounds.CLIENTS_MAX; session++) {
            assertThat(core.clientConnected(session, 0)).isEmpty();
        }

        Optional<Objection> refused = core.clientConnected(Bounds.CLIENTS_MAX + 1, 0);

        assertThat(refused.orElseThrow().code()).isEqualTo(RefusalCode.LIMIT);
        assertThat(refused.orElseThrow().message()).contains("at most " + Bounds.CLIENTS_MAX + " clients");
        core.closed(1, "it went away", 0);
        assertThat(core.clientConnected(Bounds.CLIENTS_MAX + 1, 0)).isEmpty();
    }

    @Test
    void nodesAreRefusedBeyondTheirBound() {
        MasterCore core = core();
        Map<String, String> expected = new HashMap<>();
        for (int session = 1; session <= Bounds.NODES_MAX; session++) {
            expected.put("n" + session, "");
        }
        core.expectNodes(expected, 0);
        for (int session = 1; session <= Bounds.NODES_MAX; session++) {
            assertThat(core.nodeConnected(session, new NodePeer("n" + session, session, "test"), 0))
                    .isEmpty();
        }

        Optional<Objection> refused = core.nodeConnected(Bounds.NODES_MAX + 1, new NodePeer("one more", 1, "test"), 0);

        assertThat(refused.orElseThrow().code()).isEqualTo(RefusalCode.LIMIT);
        assertThat(refused.orElseThrow().message()).contains("at most " + Bounds.NODES_MAX + " nodes");
        assertThat(core.nodeConnected(Bounds.NODES_MAX + 2, new NodePeer("n1", 1, "test"), 0))
                .as("one that is known already")
                .isEmpty();
    }

    private static MasterCore core() {
        return new MasterCore(
                PlainSettings.of("m", 10_000, 0.9, 0.8, 1, 30_000, 1 << 28), Set.of(), new Random(1), new Random(1));
    }

    // ---- requests -------------------------------------------------------------------------------------------------

    @Test
    void requestsThatWaitForNodesAreBounded() {
        Scenario pool = new Scenario().withNodes(64 * MIB, "a").leading(7);
        int ofEach = 128;
        long last = 0;
        for (int i = 0; i < Bounds.REPLIES_PENDING_MAX / ofEach; i++) {
            ObjectId id = pool.grant("k" + i, 100).grants().getFirst().objectId();
            for (int j = 0; j < ofEach; j++) {
                last = pool.publish(id, "k" + i, List.of(pool.node("a").incarnation()));
            }
        }
        assertThat(pool.isAnswered(last))
                .as("the node has not shown what was put")
                .isFalse();

        GrantReply next = pool.grant("one more", 100);
        long refused = pool.publish(
                next.grants().getFirst().objectId(),
                "one more",
                List.of(pool.node("a").incarnation()));

        assertThat(pool.reply(refused, PublishReply.class).status()).isEqualTo(Status.QUEUE_FULL);
        assertThat(pool.removeAllAtOnce(false).status()).isEqualTo(Status.QUEUE_FULL);
        assertThat(count(pool, Count.FULL_REPLIES)).isEqualTo(2);
        assertThat(pool.find("k0").status()).as("who need not wait is served").isEqualTo(Status.NOT_FOUND);
        pool.world.run(Bounds.PUBLISH_WAIT_MS + 10);
        assertThat(pool.published(last)).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.put("another", 100)).isEqualTo(Status.OK);
    }

    @Test
    void removalsThatWaitForTombstonesAreBounded() {
        Scenario pool = new Scenario().withNodes(64 * MIB, "a", "b", "c").leading(7);
        pool.crash("c");
        for (String node : List.of("a", "b")) {
            pool.node(node).mute(true);
            pool.node(node).heartbeatEvery(500);
        }
        for (int i = 0; i < Bounds.TOMBSTONE_WRITES_MAX; i += ClientRequest.KEYS_MAX) {
            pool.send(new RemoveRequest(pool.nextRequest(), true, keys(i, ClientRequest.KEYS_MAX)));
        }

        assertThat(pool.remove("one more", true)).isEqualTo(Status.QUEUE_FULL);

        assertThat(count(pool, Count.FULL_TOMBSTONE_WRITES)).isEqualTo(1);
        pool.world.run(Bounds.REMOVE_WAIT_MS);
        long next = pool.nextRequest();
        pool.send(new RemoveRequest(next, true, List.of(Key.of("one more"))));
        assertThat(pool.isAnswered(next)).as("it waits as well").isFalse();
    }

    private static List<Key> keys(int first, int count) {
        return IntStream.range(first, first + count)
                .mapToObj(QueueBoundsTest::key)
                .toList();
    }

    // ---- removals of everything -----------------------------------------------------------------------------------

    /** Many objects, and one more that is leased, so that removing everything has to look at each. */
    private static Scenario sweepable() {
        Scenario pool = new Scenario().withNodes(64 * MIB, "a", "b", "c").leading(7);
        for (int i = 0; i < SWEPT; i++) {
            assertThat(pool.put("k" + i, 100)).isEqualTo(Status.OK);
        }
        pool.put("leased", 100);
        pool.exists("leased");
        return pool;
    }

    private static int kept(Scenario pool) {
        return pool.nodes.values().stream()
                .mapToInt(node -> node.directory().size())
                .sum();
    }

    @Test
    void removalsOfEverythingAreBoundedAndShareOneBudget() {
        Scenario pool = sweepable();
        List<Long> begun = new ArrayList<>();
        for (int i = 0; i < Bounds.SWEEPS_MAX; i++) {
            begun.add(pool.nextRequest());
            pool.send(new RemoveAllRequest(begun.getLast(), false, ""));
        }

        RemoveAllReply refused = pool.removeAllAtOnce(false);

        assertThat(refused.status()).isEqualTo(Status.QUEUE_FULL);
        assertThat(count(pool, Count.FULL_SWEEPS)).isEqualTo(1);
        pool.world.run(10);
        assertThat(kept(pool)).isBetween(SWEPT + 1 - Bounds.SWEPT_PER_TICK, SWEPT);
        pool.world.run(2_000);
        long removed = 0;
        for (long request : begun) {
            RemoveAllReply reply = pool.reply(request, RemoveAllReply.class);
            assertThat(reply.status()).isEqualTo(Status.OK);
            removed += reply.removed();
        }
        assertThat(removed).as("each object once").isEqualTo(SWEPT);
        assertThat(pool.removeAll(false).status()).isEqualTo(Status.OK);
    }

    @Test
    void aRemovalOfEverythingEndsWithWhoAskedForIt() {
        Scenario pool = sweepable();
        pool.send(new RemoveAllRequest(pool.nextRequest(), false, ""));
        pool.world.run(10);
        int left = kept(pool);

        pool.disconnect();
        pool.world.run(1_000);

        assertThat(left).isBetween(SWEPT + 1 - Bounds.SWEPT_PER_TICK, SWEPT);
        assertThat(kept(pool)).isEqualTo(left);
    }
}
