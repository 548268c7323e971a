// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.Found;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.NodeRef;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.List;
import org.junit.jupiter.api.Test;

class PutTest {
    private static final long MIB = 1 << 20;

    @Test
    void anObjectIsFoundAfterItsPut() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);

        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);

        LookupReply reply = pool.lookup("k", "other");
        assertThat(reply.leaseMs()).isEqualTo(Scenario.OBJECT_LEASE_MS);
        assertThat(reply.nodes()).extracting(node -> node.nodeId()).containsExactly("a");
        Found found = reply.objects().getFirst();
        assertThat(found.objectId()).isEqualTo(new ObjectId(7, 1));
        assertThat(found.payloadLength()).isEqualTo(100);
        assertThat(found.payloadCrc()).isEqualTo("k".hashCode());
        assertThat(found.replicas()).hasSize(1);
        assertThat(reply.objects().get(1).status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void anObjectIsNotFoundBeforeItsPublish() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100);

        pool.write(grant, "k", 100);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.exists("k")).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aSecondPutOfAKeyWritesNothing() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);

        assertThat(pool.put("k", 200)).isEqualTo(Status.EXISTS);

        assertThat(pool.find("k").payloadLength()).isEqualTo(100);
    }

    @Test
    void aKeyIsBusyUntilItsPutEndsOrOutlivesItsDeadline() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply first = pool.grant("k", 100, 1_000);

        assertThat(pool.put("k", 100)).isEqualTo(Status.BUSY);
        pool.world.run(1_000);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);

        List<Long> late = pool.write(first, "k", 100);
        assertThat(pool.published(pool.publish(first.grants().getFirst().objectId(), "k", late)))
                .isEqualTo(Status.EXISTS);
        assertThat(pool.find("k").objectId()).isEqualTo(new ObjectId(7, 2));
    }

    @Test
    void aKeyIsFreeAgainWhenItsWritersConnectionEnds() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply first = pool.grant("k", 100);
        List<Long> written = pool.write(first, "k", 100);

        pool.disconnect();
        pool.talkTo(pool.talkedTo());

        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        assertThat(pool.published(pool.publish(first.grants().getFirst().objectId(), "k", written)))
                .isEqualTo(Status.EXISTS);
        assertThat(pool.node("a").directory()).hasSize(1);
    }

    @Test
    void aWriterThatOnlyLostItsConnectionMayStillPublish() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100);
        List<Long> written = pool.write(grant, "k", 100);

        pool.disconnect();
        pool.talkTo(pool.talkedTo());

        assertThat(pool.published(pool.publish(grant.grants().getFirst().objectId(), "k", written)))
                .isEqualTo(Status.OK);
    }

    @Test
    void aFailedPutGivesTheKeyBack() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100);
        ObjectId id = grant.grants().getFirst().objectId();

        assertThat(pool.published(pool.publish(id, "k", List.of(), PutOutcome.FAILED)))
                .isEqualTo(Status.OK);

        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
    }

    @Test
    void whatAFailedPutLeftOnANodeIsFreed() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100);
        pool.write(grant, "k", 100);

        pool.publish(grant.grants().getFirst().objectId(), "k", List.of(), PutOutcome.FAILED);

        assertThat(pool.node("a").directory()).isEmpty();
    }

    @Test
    void anUnfinishedPutIsFreedAfterItsDeadlineAndAGrace() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100, 1_000);
        pool.write(grant, "k", 100);

        pool.world.run(5_990);
        assertThat(pool.node("a").directory()).hasSize(1);
        pool.world.run(20);
        assertThat(pool.node("a").directory()).isEmpty();
    }

    @Test
    void aPublishWaitsForTheRecordOfEachNamedNode() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100);
        ObjectId id = grant.grants().getFirst().objectId();
        long request = pool.publish(id, "k", List.of(pool.node("a").incarnation()));

        pool.world.run(1_000);
        assertThat(pool.isAnswered(request)).isFalse();

        pool.write(grant, "k", 100);
        pool.world.run(0);
        assertThat(pool.published(request)).isEqualTo(Status.OK);
    }

    @Test
    void aPublishGoesOnWaitingWhenTheNodeReplacesItsConnection() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply written = pool.grant("written", 100);
        GrantReply grant = pool.grant("k", 100);
        List<Long> incarnation = List.of(pool.node("a").incarnation());
        long request = pool.publish(grant.grants().getFirst().objectId(), "k", incarnation);
        pool.world.run(10);

        pool.write(written, "written", 100);
        pool.node("a").connect(pool.talkedTo());
        long other = pool.publish(written.grants().getFirst().objectId(), "written", incarnation);
        pool.world.run(10);
        assertThat(pool.isAnswered(request)).isFalse();
        assertThat(pool.published(other)).isEqualTo(Status.OK);

        pool.write(grant, "k", 100);
        pool.world.run(10);
        assertThat(pool.published(request)).isEqualTo(Status.OK);
    }

    @Test
    void aPublishWhoseRecordNeverComesIsUnavailableAfterItsBound() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100);
        ObjectId id = grant.grants().getFirst().objectId();

        long request = pool.publish(id, "k", List.of(pool.node("a").incarnation()));
        pool.world.run(Bounds.PUBLISH_WAIT_MS + 10);

        assertThat(pool.published(request)).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
    }

    @Test
    void publishingAgainWhatIsPublishedIsOk() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.put("k", 100);
        ObjectId id = pool.find("k").objectId();

        long again = pool.publish(id, "k", List.of(pool.node("a").incarnation()));

        assertThat(pool.published(again)).isEqualTo(Status.OK);
    }

    @Test
    void aPutUnderAnotherKeyThanItsGrantIsNotPublished() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        GrantReply grant = pool.grant("k", 100);
        List<Long> committed = pool.write(grant, "k", 100);

        long request = pool.publish(grant.grants().getFirst().objectId(), "other", committed);

        assertThat(pool.published(request)).isEqualTo(Status.STALE_EPOCH);
        assertThat(pool.find("other").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void preferredNodesAreTriedInTurnAndNamesOfNoneAreTold() {
        Scenario pool = new Scenario().withNodes(64 << 10, "a", "b", "c").leading(7);
        String b = pool.node("b").address();

        for (int i = 0; i < 20; i++) {
            GrantReply reply = pool.grantPreferring("k" + i, "nobody," + b + ",a,,c:1");
            assertThat(reply.nodes()).extracting(NodeRef::nodeId).containsExactly("b");
            assertThat(reply.unknownNodes()).isEqualTo("nobody,c:1");
        }
        pool.crash("b");
        GrantReply reply = pool.grantPreferring("k", "b,a");
        assertThat(reply.nodes()).extracting(NodeRef::nodeId).containsExactly("a");
        assertThat(reply.unknownNodes()).as("one that is away is known").isEmpty();
        assertThat(pool.grant("other", 100).unknownNodes()).isEmpty();
    }

    @Test
    void morePreferredNodesThanThereMayBeAreRefused() {
        Scenario pool = new Scenario().withNodes(64 << 10, "a").leading(7);

        assertThat(pool.grantPreferring("k", "a,".repeat(Bounds.PREFERRED_NODES_MAX - 1) + "a")
                        .status())
                .isEqualTo(Status.OK);
        assertThat(pool.grantPreferring("l", "a,".repeat(Bounds.PREFERRED_NODES_MAX) + "a")
                        .status())
                .isEqualTo(Status.INVALID_ARGUMENT);
        assertThat(pool.grantPreferring("l", "a".repeat(Bounds.PREFERRED_CHARS_MAX + 1))
                        .status())
                .isEqualTo(Status.INVALID_ARGUMENT);
    }

    @Test
    void copiesGoToDifferentNodes() {
        Scenario pool =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(2).leading(7);

        pool.put("k", 100);

        LookupReply reply = pool.lookup("k");
        assertThat(reply.objects().getFirst().replicas()).hasSize(2);
        assertThat(reply.nodes()).hasSize(2).doesNotHaveDuplicates();
    }

    @Test
    void anObjectLargerThanAnySegmentIsRefused() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);

        assertThat(pool.put("k", 2 * MIB)).isEqualTo(Status.TOO_LARGE);
        assertThat(pool.put("k", Long.MAX_VALUE)).isEqualTo(Status.TOO_LARGE);
        assertThat(pool.put("k", -1)).isEqualTo(Status.TOO_LARGE);
    }

    @Test
    void keysThatAreNoKeysAreRefusedOneByOne() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);

        assertThat(pool.put("", 1)).isEqualTo(Status.INVALID_KEY);
        assertThat(pool.put("x".repeat(4097), 1)).isEqualTo(Status.INVALID_KEY);
        assertThat(pool.put("x".repeat(4096), 1)).isEqualTo(Status.OK);
        assertThat(pool.put("empty", 0)).isEqualTo(Status.OK);
    }

    @Test
    void aReplicaThatDisagreesIsFreedAndNeverRead() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        GrantReply grant = pool.grant("k", 100);
        ObjectId id = grant.grants().getFirst().objectId();
        var key = dev.kvpool.dataplane.wire.message.Key.of("k");
        pool.node("a").write(grant.authority(), id, key, 100, 1);
        pool.world.run(0);
        pool.node("b").write(grant.authority(), id, key, 100, 2);
        pool.world.run(0);

        pool.publish(id, "k", List.of(pool.node("a").incarnation()));

        assertThat(pool.find("k").replicas()).hasSize(1);
        assertThat(pool.find("k").payloadCrc()).isEqualTo(1);
        assertThat(pool.node("b").directory()).isEmpty();
    }

    /** Seeds 6527, 8121: two leaders of one epoch gave the same ids, and what was to be freed later was looked for by its id. */
    @Test
    void whatHasTheIdOfAnotherObjectIsFreedAfterWhatItReplaced() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.lead(pool.talkedTo(), 8);
        assertThat(pool.put("other", 100)).isEqualTo(Status.OK);
        ObjectId id = pool.find("other").objectId();
        pool.talkedTo().crash();
        var key = dev.kvpool.dataplane.wire.message.Key.of("k");
        pool.node("a").write(Scenario.authority(8), id, key, 300, 1);
        pool.node("a").write(Scenario.authority(8), new ObjectId(8, 99), key, 200, 1);

        ModelMaster next = pool.master();
        pool.lead(next, 9).talkTo(next);
        pool.pass(5_000);
        assertThat(records(pool, 300))
                .as("a reader may rely on what it replaced")
                .isPositive();
        pool.pass(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);

        assertThat(records(pool, 300)).isZero();
        assertThat(pool.find("other").payloadLength()).isEqualTo(100);
        assertThat(pool.find("k").payloadLength()).isEqualTo(200);
    }

    private static long records(Scenario pool, long payloadLength) {
        return pool.nodes.values().stream()
                .flatMap(node -> node.directory().stream())
                .filter(record -> record.payloadLength() == payloadLength)
                .count();
    }
}
