// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Node;
import dev.kvpool.dataplane.master.core.report.PoolStatus.NodeState;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import java.util.AbstractList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A node whose stream cannot be followed is left out, and the rest of the pool serves. */
class SetApartTest {
    private static final long MIB = 1 << 20;

    @Test
    void aNodeThatBreaksTheRulesIsLeftOutForAWhileAndTheOtherServes() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        put(pool, "k", "a");
        put(pool, "l", "b");

        pool.node("b").say(pool.talkedTo(), new Changes(1_000, List.of()));
        pool.world.run(0);

        assertThat(node(pool, "b").state()).isEqualTo(NodeState.SET_APART);
        assertThat(node(pool, "b").reason()).contains("set apart for 1 s", "gap in the stream");
        assertThat(count(pool, Count.SET_APART_VIOLATION)).isEqualTo(1);
        assertThat(pool.talkedTo().reports()).anyMatch(line -> line.startsWith("node b is set apart"));
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        assertThat(pool.find("l").status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.put("m", 100)).isEqualTo(Status.OK);

        pool.node("b").dial(pool.talkedTo());
        pool.world.run(999);
        assertThat(node(pool, "b").state()).isEqualTo(NodeState.SET_APART);

        pool.world.run(1);
        pool.node("b").dial(pool.talkedTo());
        pool.world.run(100);
        assertThat(node(pool, "b").state()).isEqualTo(NodeState.READY);
        assertThat(node(pool, "b").reason()).isEmpty();
        assertThat(pool.find("l").status()).isEqualTo(Status.OK);
    }

    /** No leader counts from there: what asks for the id before it would throw, long after the record has come. */
    @Test
    void objectsWithoutANumberAreNotTaken() {
        for (ObjectId none : List.of(ObjectId.NONE, new ObjectId(0, 1), new ObjectId(7, 0))) {
            Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
            pool.node("b").keep(none, Key.of("k"), 100, Retention.NONE);
            pool.world.run(0);

            assertThat(node(pool, "b").reason()).contains("object " + none + ", which no leader grants");
            assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        }
    }

    /** The Lease was deleted and another leads: what only this one still has in view must not be read for long. */
    @Test
    void aLeaderThatIsShownObjectsOfALaterOneLooksAtTheLease() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        assertThat(pool.talkedTo().departures()).isEmpty();

        pool.node("b").keep(new ObjectId(8, 1), Key.of("k"), 100, Retention.NONE);
        pool.world.run(0);

        assertThat(node(pool, "b").reason()).contains("object 8.1");
        assertThat(pool.talkedTo().departures()).containsExactly(new Action.LookAtLease());
    }

    @Test
    void anotherProcessOfItIsLetInAtOnce() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        pool.node("b").say(pool.talkedTo(), new Changes(1_000, List.of()));
        pool.world.run(0);

        pool.crash("b");
        pool.restart("b");

        assertThat(node(pool, "b").state()).isEqualTo(NodeState.READY);
    }

    /** Half of the message has been applied when the core throws: nothing of that view is used any more. */
    @Test
    void aRecordThatTheCoreCannotBearCostsTheViewAndNotTheMaster() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        put(pool, "k", "a");
        put(pool, "l", "b");
        MasterCore before = pool.talkedTo().core();
        long granted = count(pool, Count.GRANTS);

        poison(pool, "b");

        assertThat(pool.talkedTo().core()).isNotSameAs(before);
        assertThat(pool.talkedTo().status().state()).isNotEqualTo(PoolStatus.State.SERVING);
        assertThat(node(pool, "b").state()).isEqualTo(NodeState.SET_APART);
        assertThat(node(pool, "b").reason()).contains("planted", "set apart for 10 s");
        assertThat(count(pool, Count.SET_APART_DEFECT)).isEqualTo(1);
        assertThat(count(pool, Count.GRANTS)).as("what was counted stays").isGreaterThan(granted);

        pool.node("a").dial(pool.talkedTo());
        pool.node("b").dial(pool.talkedTo());
        pool.lead(pool.talkedTo(), 8);
        pool.world.run(300);

        assertThat(pool.talkedTo().status().state())
                .as("a start does not wait for a node that is left out")
                .isEqualTo(PoolStatus.State.SERVING);
        pool.talkTo(pool.talkedTo());
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
        assertThat(pool.put("m", 100)).isEqualTo(Status.OK);
        assertThat(node(pool, "b").state()).isEqualTo(NodeState.SET_APART);

        pool.pass(10_000);
        pool.node("b").dial(pool.talkedTo());
        pool.world.run(100);
        assertThat(node(pool, "b").state()).isEqualTo(NodeState.READY);
        assertThat(pool.find("l").status()).isEqualTo(Status.OK);
    }

    /** Long after the record was applied: every master would end in turn, each time it comes to the object. */
    @Test
    void soDoesAnObjectOverWhichTheCoreThrowsAsTimeGoesBy() {
        Scenario pool = new Scenario().withReplicas(2).withNodes(MIB, "a", "b").leading(7);
        pool.node("b").hold(true);
        GrantReply granted = pool.grant("k", 100);
        AtomicBoolean throwing = new AtomicBoolean();
        List<Long> written = pool.write(granted, "k", 100);
        List<Long> poison = new AbstractList<>() {
            @Override
            public Long get(int index) {
                if (throwing.get()) {
                    throw new AssertionError("planted: an object that the core cannot bear");
                }
                return written.get(index);
            }

            @Override
            public int size() {
                return written.size();
            }
        };
        pool.publish(granted.grants().getFirst().objectId(), "k", poison);
        MasterCore before = pool.talkedTo().core();

        throwing.set(true);
        pool.world.run(10);

        assertThat(pool.talkedTo().core()).isNotSameAs(before);
        assertThat(node(pool, "a").reason()).contains("thrown over an object that is on [node a", "set apart for 10 s");
        assertThat(node(pool, "b").state()).as("it has not shown the object").isNotEqualTo(NodeState.SET_APART);
        assertThat(count(pool, Count.SET_APART_DEFECT)).isEqualTo(1);
    }

    @Test
    void aViewThatWasDroppedKeepsRulesAndExpectedNodes() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        pool.expectOnly("a", "b", "c");
        CacheRules other = PlainSettings.rules(20_000, EvictionRules.between(0.4, 0.8), 2, 30_000, 1 << 20);
        pool.talkedTo().goBy(other);

        poison(pool, "b");
        pool.node("a").dial(pool.talkedTo());
        pool.lead(pool.talkedTo(), 8).talkTo(pool.talkedTo());
        pool.pass(11_000);

        assertThat(pool.talkedTo().status().expectedNodes()).isEqualTo(3);
        pool.put("k", 100);
        assertThat(pool.lookup("k").leaseMs()).isEqualTo(20_000);
    }

    @Test
    void soIsOneInASnapshotOnAStandby() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        put(pool, "k", "a");
        put(pool, "l", "b");
        ModelMaster standby = pool.lonelyMaster();
        pool.node("a").dial(standby);
        pool.node("b").dial(standby);
        pool.node("b")
                .say(
                        standby,
                        new SnapshotRecords(PoisonedRecords.of(pool.node("b").directory(), 0)));
        pool.world.run(100);
        assertThat(standby.status().nodesSetApart()).isEqualTo(1);

        pool.node("a").dial(standby);
        pool.world.run(100);
        pool.lead(standby, 8).talkTo(standby);
        pool.world.run(300);

        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    private static void poison(Scenario pool, String id) {
        ModelNode node = pool.node(id);
        node.poison();
        put(pool, "poison", id);
        pool.world.run(0);
    }

    /** Writes an object of one copy to this node. */
    private static void put(Scenario pool, String key, String id) {
        var grant = pool.grant(key, 100);
        for (int i = 0; !grant.nodes().getFirst().nodeId().equals(id); i++) {
            pool.publish(grant.grants().getFirst().objectId(), key, List.of());
            assertThat(i).isLessThan(100);
            grant = pool.grant(key, 100);
        }
        List<Long> written = pool.write(grant, key, 100);
        pool.publish(grant.grants().getFirst().objectId(), key, written);
    }

    private static Node node(Scenario pool, String id) {
        return pool.talkedTo().status().nodes().stream()
                .filter(node -> node.id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    private static long count(Scenario pool, Count count) {
        return pool.talkedTo().status().counters().get(count);
    }
}
