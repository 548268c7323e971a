// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.ViewDefect;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.register.RegisterException;
import dev.kvpool.dataplane.register.RegisterText;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.GrantSecret;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeCommand.Activate;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What one node says of epochs, purges and versions binds nobody; what most say does where the register was lost. */
class ClaimsTest {
    private static final long MIB = 1 << 20;
    private static final Authority FAR = new Authority(Integer.MAX_VALUE - 3, 77);

    private static final GrantSecret SECRET = GrantSecret.of(new byte[GrantSecret.BYTES]);

    private final Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(5);
    private final List<Long> raises = new ArrayList<>();

    ClaimsTest() {
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        pool.talkedTo().onRaise(raises::add);
    }

    private void obeys(String node, Authority authority, ObjectId purgeId) {
        pool.crash(node);
        pool.node(node).obedience().fence(new Fence(1, authority, 0, purgeId, SECRET));
        pool.node(node).obedience().raisePurge(purgeId);
    }

    /** Else one message of an engine would make the register one that no master can read, which counts as lost. */
    @Test
    void aNodeIsAMemberWhenTheRegisterCanHaveItsId() throws RegisterException {
        for (String id : List.of("engine 1", "engine,1", "caf\u00e9", "a\nend", "e".repeat(254))) {
            pool.transientNode(id, MIB).dial(pool.talkedTo());
            pool.world.run(50);

            assertThat(pool.world.register().isMember(id)).as(id).isFalse();
        }
        for (String id : List.of("10.0.0.1:15021-0a1b2c3d", "[fd00::1]:15021-0a1b2c3d", "=", "=-", "-")) {
            pool.transientNode(id, MIB).dial(pool.talkedTo());
            pool.world.run(50);

            assertThat(pool.world.register().isMember(id)).as(id).isTrue();
        }
        assertThat(RegisterText.read(RegisterText.write(pool.world.register()))).isEqualTo(pool.world.register());
        assertThat(pool.put("other", 100)).isEqualTo(Status.OK);
    }

    @Test
    void oneNodeDoesNotDriveTheEpochUp() {
        obeys("a", FAR, ObjectId.NONE);
        pool.restart("a");
        pool.world.run(1_000);

        assertThat(raises).isEmpty();
        assertThat(pool.reason("a")).contains("the Lease says").contains("this node is not believed");
        assertThat(pool.talkedTo().departures())
                .as("it looks whether it was deposed")
                .isNotEmpty();
        assertThat(pool.put("other", 100)).isEqualTo(Status.OK);
    }

    private Scenario ofOneNode() {
        Scenario one = new Scenario().withWireMax(1).withNodes(MIB, "a").leading(5);
        assertThat(one.put("k", 100)).isEqualTo(Status.OK);
        one.world.run(1_000);
        one.talkedTo().onRaise(raises::add);
        one.crash("a");
        return one;
    }

    /** Another process under the name of the only storage node, which is away; then that node is back. */
    private static void saidByAnother(Scenario one, Consumer<ModelNode> says) {
        ModelNode other = new ModelNode(one.world, "a", MIB, false);
        says.accept(other);
        other.dial(one.talkedTo());
        one.world.run(100);
        other.crash();
    }

    private static void servesAsBefore(Scenario one) {
        one.world.run(1_000);
        one.restart("a");
        one.world.run(1_000);
        assertThat(one.talkedTo().status().readyNodes()).isEqualTo(1);
        assertThat(one.find("k").status()).isEqualTo(Status.OK);
        assertThat(one.put("other", 100)).isEqualTo(Status.OK);
    }

    /** It would use up the numbers that a Lease can have: no leader could follow any more. */
    @Test
    void anEpochFarAboveTheLeasesIsRefusedThoughThatNodeIsTheMajority() {
        Scenario one = ofOneNode();
        saidByAnother(one, node -> obeys(node, FAR));

        assertThat(raises).isEmpty();
        assertThat(one.reason("a"))
                .contains("set apart")
                .contains("the Lease says 5")
                .contains("leaseTransitions");
        assertThat(one.talkedTo().status().highestEpoch()).isEqualTo(5);
        assertThat(one.talkedTo().status().counters().get(Count.SET_APART_EPOCH))
                .isEqualTo(1);
        servesAsBefore(one);
    }

    @Test
    void norDoesAStandbyTakeItFromThere() {
        Scenario one = ofOneNode();
        ModelMaster standby = one.lonelyMaster();
        standby.core().leaseSeen(5, one.world.register(), one.world.nowMs());
        obeys(one.node("a"), new Authority(5 + Bounds.EPOCH_STEP_MAX + 1, 77));
        one.node("a").start();
        one.node("a").dial(standby);
        one.world.run(100);
        assertThat(standby.status().highestEpoch()).isZero();
    }

    private static void obeys(ModelNode node, Authority authority) {
        node.obedience().fence(new Fence(1, authority, 0, ObjectId.NONE, SECRET));
    }

    /** As after the Lease of a pool with many leaders behind it was deleted. */
    @Test
    void oneThatIsNotSoFarIsFollowed() {
        Scenario one = ofOneNode();
        long known = 5 + Bounds.EPOCH_STEP_MAX;
        obeys(one.node("a"), new Authority(known, 77));
        one.restart("a");
        assertThat(raises).containsExactly(known);
    }

    /** Else 32,768 messages would use up the numbers that a Lease can have. */
    @Test
    void itIsRaisedSoFarOnceAndThenOnlyAfterARest() {
        Scenario one = ofOneNode();
        saidByAnother(one, node -> obeys(node, new Authority(1_005, 77)));
        assertThat(raises).containsExactly(1_005L);
        one.lead(one.talkedTo(), 1_006);

        saidByAnother(one, node -> obeys(node, new Authority(2_006, 77)));
        assertThat(raises).hasSize(1);
        one.pass(Bounds.FAR_RAISE_REST_MS_MIN);
        saidByAnother(one, node -> obeys(node, new Authority(2_006, 77)));
        assertThat(raises).containsExactly(1_005L, 2_006L);
    }

    @Test
    void aWireVersionThatNoMasterKnowsIsRefusedThoughThatNodeIsTheMajority() {
        Scenario one = ofOneNode();
        Authority leader = one.talkedTo().leads();
        saidByAnother(one, node -> {
            obeys(node, leader);
            node.knowing(9, 9).obedience().activate(new Activate(1, leader, new ActiveVersions(9, 1)));
        });

        assertThat(one.reason("a"))
                .contains("set apart")
                .contains("speaks wire 9")
                .contains("knows at most 1");
        assertThat(one.world.register().active().wire()).isEqualTo(1);
        servesAsBefore(one);
        assertThat(one.talkedTo().core().activeVersions()).isEqualTo(new ActiveVersions(1, 1));
    }

    /** It introduces itself as a node of this build, and says later what it speaks. */
    @Test
    void norIsOneThatItTellsOfLater() {
        Scenario one = ofOneNode();
        Authority leader = one.talkedTo().leads();
        ModelNode other = new ModelNode(one.world, "a", MIB, false);
        obeys(other, leader);
        other.dial(one.talkedTo());
        one.world.run(100);
        assertThat(one.talkedTo().status().readyNodes()).isEqualTo(1);
        other.knowing(9, 9).obedience().activate(new Activate(1, leader, new ActiveVersions(9, 1)));
        other.breakSsd("broken"); // which it tells, and with it which versions it speaks
        one.world.run(100);

        assertThat(one.reason("a")).contains("set apart").contains("speaks wire 9");
        assertThat(one.world.register().active().wire()).isEqualTo(1);
    }

    @Test
    void mostNodesDo() {
        for (String node : List.of("a", "b", "c")) {
            obeys(node, new Authority(node.equals("c") ? 60 : 40, 77), ObjectId.NONE);
        }
        pool.restart("a");
        assertThat(raises).isEmpty();
        pool.restart("c");

        assertThat(raises).as("what two of three have at least").containsExactly(40L);
    }

    @Test
    void oneNodeThatIsALittleAheadComesInAgain() {
        obeys("a", new Authority(6, 77), ObjectId.NONE);
        pool.restart("a");
        assertThat(raises).containsExactly(6L);
    }

    @Test
    void whatOneNodeSaysWasRemovedIsThere() {
        obeys("a", pool.talkedTo().leads(), new ObjectId(5, Long.MAX_VALUE));
        pool.restart("a");
        pool.world.run(1_000);

        assertThat(pool.reason("a")).contains("says that everything below").contains("not believed");
        assertThat(pool.node("b").purgeId()).isEqualTo(ObjectId.NONE);
        assertThat(pool.put("other", 100)).isEqualTo(Status.OK);
        assertThat(pool.find("other").status()).isEqualTo(Status.OK);
    }

    /** Everything is removed while some nodes are away, then the register is lost; what this node knows of the removal. */
    private ObjectId registerLostAfterAllWasRemoved(ModelNode knowing, String... away) {
        List.of(away).forEach(pool::crash);
        assertThat(pool.removeAll(true).status()).isEqualTo(Status.OK);
        pool.world.setRegister(Register.NONE);
        return knowing.purgeId();
    }

    @Test
    void whatMostNodesSayWasRemovedIsGoneWhenTheRegisterWasLost() {
        ObjectId purgeId = registerLostAfterAllWasRemoved(pool.node("b"));

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(1_000);

        assertThat(pool.world.register().purgeId()).isEqualTo(purgeId);
        assertThat(next.status().readyNodes()).isEqualTo(3);
    }

    @Test
    void ofARemovalThatNodesMissedTheOthersTellWhenTheRegisterWasSetBack() {
        pool.crash("b");
        pool.crash("c");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.world.run(1_000);
        Register before = pool.world.register();
        assertThat(before.behind()).containsExactly("b", "c");
        assertThat(pool.removeAll(true).status()).isEqualTo(Status.OK);
        ObjectId purgeId = pool.node("a").purgeId();

        pool.world.setRegister(before);
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(1_000);

        assertThat(pool.world.register().purgeId()).isEqualTo(purgeId);
        assertThat(next.status().readyNodes()).isEqualTo(1);
    }

    @Test
    void ofARemovalThatOneNodeAloneKnowsItTellsWhenTheRegisterWasLost() {
        ObjectId purgeId = registerLostAfterAllWasRemoved(pool.node("a"), "b", "c");

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.restart("b");
        pool.restart("c");
        pool.world.run(1_000);

        assertThat(pool.world.register().purgeId()).isEqualTo(purgeId);
        assertThat(next.status().readyNodes()).isEqualTo(3);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void ofARemovalThatAnEngineAloneKnowsItTellsWhenTheRegisterWasLost() {
        ModelNode engine = pool.transientNode("engine", MIB);
        engine.dial(pool.talkedTo());
        pool.world.run(1_000);
        ObjectId purgeId = registerLostAfterAllWasRemoved(engine, "a", "b", "c");

        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        engine.dial(next);
        List.of("a", "b", "c").forEach(pool::restart);
        pool.world.run(1_000);

        assertThat(purgeId).isNotEqualTo(ObjectId.NONE);
        assertThat(pool.world.register().purgeId()).isEqualTo(purgeId);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void aLeaderThatBeganWithoutOneGoesOnSoWhenItRaisesItsEpoch() {
        ObjectId purgeId = registerLostAfterAllWasRemoved(pool.node("a"), "b", "c");
        pool.crash("a");

        // It met no node before it led, so it begins at one, and what it made of the pool is in the Lease.
        ModelMaster next = pool.master();
        next.onRaise(raises::add);
        pool.lead(next, 1).talkTo(next);
        pool.world.run(1_000);
        assertThat(pool.world.register().isLost()).isFalse();
        List.of("a", "b", "c").forEach(pool::restart);
        pool.world.run(1_000);
        assertThat(raises).contains(5L);
        pool.lead(next, 6);
        pool.crash("c"); // set apart for a second, for its object of an epoch after one
        pool.restart("c");
        pool.world.run(2_000);

        assertThat(pool.world.register().purgeId()).isEqualTo(purgeId);
        assertThat(next.status().readyNodes()).isEqualTo(3);
    }

    @Test
    void noNodeTellsOfAPurgeOfThisLeadersOwnEpoch() {
        pool.crash("b");
        pool.crash("c");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        obeys("a", pool.talkedTo().leads(), new ObjectId(5, Long.MAX_VALUE));
        pool.restart("a");
        pool.world.run(1_000);

        assertThat(pool.reason("a")).contains("says that everything below").contains("not believed");
        assertThat(pool.world.register().purgeId()).isEqualTo(ObjectId.NONE);
    }

    private ModelNode nodeWithAFarRecord() {
        ModelNode far = pool.unexpectedNode("far", MIB);
        far.keep(new ObjectId(FAR.epoch(), 1), Key.of("k"), 100, Retention.NONE);
        return far;
    }

    @Test
    void aRecordThatNoLeaderCanHaveGrantedIsNotTakenByAStandbyThatLeadsLater() {
        ModelMaster standby = pool.master();
        standby.onRaise(raises::add);
        standby.core().leaseSeen(5, pool.world.register(), pool.world.nowMs());
        nodeWithAFarRecord().dial(standby);
        pool.world.run(1_000);

        assertThat(standby.status().nodes())
                .filteredOn(node -> node.id().equals("far"))
                .singleElement()
                .satisfies(node -> assertThat(node.reason()).contains("no leader can have had"));
        pool.lead(standby, 6).talkTo(standby);
        pool.world.run(1_000);
        assertThat(raises).isEmpty();
        assertThat(pool.find("k").objectId().epoch()).isEqualTo(5);
        assertThat(pool.put("other", 100)).isEqualTo(Status.OK);
    }

    @Test
    void oneThatWasShownBeforeTheFirstLookAtTheLeaseCostsThatNodeItsPlace() {
        ModelMaster standby = pool.master();
        nodeWithAFarRecord().dial(standby);
        pool.world.run(1_000);

        assertThatThrownBy(() -> standby.core().leaseSeen(5, pool.world.register(), pool.world.nowMs()))
                .isInstanceOf(ViewDefect.class)
                .hasMessageContaining("far")
                .hasMessageContaining("no leader can have had one above");
    }

    private void comesBackWriting(String node, ActiveVersions versions) {
        pool.world.run(1_000);
        pool.crash(node);
        pool.node(node)
                .knowing(9, 9)
                .obedience()
                .activate(new Activate(1, pool.talkedTo().leads(), versions));
        pool.restart(node);
        pool.world.run(1_000);
        assertThat(pool.talkedTo().core().activeVersions()).isEqualTo(new ActiveVersions(1, 1));
    }

    /** As after the Lease was deleted just after a leader had raised it: this one has not read that, and no node connects again. */
    @Test
    void theWireVersionThatMostNodesTellOfLaterIsThePools() {
        raisedByAnother(pool, "a");
        assertThat(pool.world.register().active().wire()).isEqualTo(1);
        raisedByAnother(pool, "b");

        assertThat(pool.world.register().active().wire()).isEqualTo(2);
        assertThat(pool.node("c").active().wire()).as("it is told").isEqualTo(2);
    }

    /** As after the Lease was deleted when one of the nodes had been raised: no other one will tell. */
    @Test
    void orOneStorageNodeWhereTheRegisterWasLost() {
        pool.crash("a");
        pool.node("a")
                .knowing(2, 2)
                .obedience()
                .activate(new Activate(1, pool.talkedTo().leads(), new ActiveVersions(2, 1)));
        pool.world.setRegister(Register.NONE);
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.nodes.values().forEach(node -> node.knowing(2, 2));
        pool.world.run(1_000);
        assertThat(pool.world.register().active().wire()).isEqualTo(1);
        pool.restart("a");
        pool.world.run(1_000);

        assertThat(pool.world.register().active().wire()).isEqualTo(2);
        assertThat(pool.node("c").active().wire()).as("it is told").isEqualTo(2);
        assertThat(next.status().readyNodes()).isEqualTo(3);
    }

    @Test
    void ofOneNodeItIsNotAndThatOneIsNotKept() {
        raisedByAnother(pool, "a");

        assertThat(pool.world.register().active().wire()).isEqualTo(1);
        assertThat(pool.reason("a")).contains("speaks wire 2, the register says 1");
    }

    private static Scenario ofThreeEngines() {
        Scenario engines = new Scenario().leading(5);
        for (String id : List.of("x", "y", "z")) {
            engines.transientNode(id, MIB).dial(engines.talkedTo());
        }
        engines.world.run(12_000);
        return engines;
    }

    /** They have no segments that last: nothing would lower it again, and older processes would be refused for ever. */
    @Test
    void noEnginesRaiseTheLayoutOfSegments() {
        Scenario engines = ofThreeEngines();
        for (String id : List.of("x", "y", "z")) {
            raisedByAnother(engines, id, new ActiveVersions(2, 2));
        }
        assertThat(engines.world.register().active())
                .as("the layout is not known")
                .isEqualTo(new ActiveVersions(2, 0));
    }

    @Test
    void orMostEnginesWhereThereIsNothingElse() {
        Scenario engines = ofThreeEngines();
        raisedByAnother(engines, "x");
        assertThat(engines.world.register().active().wire()).isEqualTo(1);
        raisedByAnother(engines, "y");

        assertThat(engines.world.register().active().wire()).isEqualTo(2);
        assertThat(engines.node("z").active().wire()).as("it is told").isEqualTo(2);
    }

    private static void raisedByAnother(Scenario pool, String id) {
        raisedByAnother(pool, id, new ActiveVersions(2, 1));
    }

    private static void raisedByAnother(Scenario pool, String id, ActiveVersions versions) {
        pool.nodes.values().forEach(node -> node.knowing(2, 2));
        ModelNode node = pool.node(id);
        node.obedience().activate(new Activate(1, pool.talkedTo().leads(), versions));
        node.tellLargestFree(MIB);
        pool.world.run(1_000);
    }

    @Test
    void theWireVersionOfOneNodeIsNotThePools() {
        comesBackWriting("a", new ActiveVersions(9, 9));
        assertThat(pool.reason("a"))
                .contains("speaks wire 9, the register says 1")
                .contains("not believed");
    }

    @Test
    void aNodeOfABuildThatKnowsNoLowerLayoutTakesPartWithItsOwn() {
        comesBackWriting("a", new ActiveVersions(1, 9));
        assertThat(pool.reason("a")).isEmpty();
        assertThat(pool.talkedTo().status().readyNodes()).isEqualTo(3);
    }
}
