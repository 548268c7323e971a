// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.Hinted;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.GrantSecret;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.NativeNode;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Hint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An engine of one tenant that lends memory and lies costs other tenants and the pool nothing. */
class HostileEngineTest {
    private static final long MIB = 1 << 20;
    private static final long DAY_MS = 86_400_000;
    private static final Tenant A = Tenant.of("a");
    private static final Tenant B = Tenant.of("b");
    private static final GrantSecret SECRET = GrantSecret.of(new byte[GrantSecret.BYTES]);

    private final Scenario pool = new Scenario().withNodes(MIB, "n", "m");

    private static void remembers(ModelNode node, Authority authority, long objectLeaseMs, ObjectId purgeId) {
        node.obedience().fence(new Fence(1, authority, objectLeaseMs, purgeId, SECRET));
        node.obedience().raisePurge(purgeId);
    }

    private ModelNode engineOfB(String id) {
        return pool.transientNode(id, MIB).ofTenant(B);
    }

    private void nextLeaderServes(long epoch) {
        ModelMaster next = pool.master();
        pool.standBy();
        pool.lead(next, epoch).talkTo(next);
    }

    private void everyPromiseEnds() {
        pool.world.run(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS + 100);
    }

    private static CacheRules leasing(long objectLeaseMs) {
        return PlainSettings.rules(
                objectLeaseMs,
                EvictionRules.between(0.50, 0.90),
                1,
                Scenario.REPAIR_DELAY_MS,
                Scenario.REPAIR_BYTES_PER_SECOND);
    }

    // ---- leases -------------------------------------------------------------------------------------------------

    @Test
    void itDoesNotLengthenTheLeaseOfWhatATakeoverFinds() {
        pool.leading(1);
        assertThat(pool.as(A).put("k", 100)).isEqualTo(Status.OK);
        remembers(engineOfB("engine"), Scenario.authority(1), DAY_MS, ObjectId.NONE);
        nextLeaderServes(2);
        everyPromiseEnds();

        assertThat(pool.talkedTo().status().nodes()).anySatisfy(node -> {
            assertThat(node.id()).isEqualTo("engine");
            assertThat(node.isTransient()).isTrue();
        });
        assertThat(pool.as(A).remove("k", false)).isEqualTo(Status.OK);
    }

    @Test
    void noMoreDoesItWhenTheRegisterWasLost() {
        pool.leading(1);
        assertThat(pool.as(A).put("k", 100)).isEqualTo(Status.OK);
        remembers(engineOfB("engine"), Scenario.authority(1), DAY_MS, ObjectId.NONE);
        pool.world.setRegister(Register.NONE);
        nextLeaderServes(2);
        everyPromiseEnds();

        assertThat(pool.as(A).remove("k", false)).isEqualTo(Status.OK);
    }

    /** Nor does a storage node, for the register has what leaders have promised. */
    @Test
    void aStorageNodeDoesNotEither() {
        pool.leading(1);
        assertThat(pool.as(A).put("k", 100)).isEqualTo(Status.OK);
        pool.crash("n");
        remembers(pool.node("n"), Scenario.authority(1), DAY_MS, ObjectId.NONE);
        pool.restart("n");
        nextLeaderServes(2);
        everyPromiseEnds();

        assertThat(pool.as(A).remove("k", false)).isEqualTo(Status.OK);
    }

    @Test
    void whatStorageNodesKnowOfLeasesCountsWhenTheRegisterWasLost() {
        pool.leading(1).talkedTo().goBy(leasing(60_000));
        pool.world.run(100);
        assertThat(pool.as(A).put("k", 100)).isEqualTo(Status.OK);
        pool.world.setRegister(Register.NONE);
        nextLeaderServes(2);
        everyPromiseEnds();

        assertThat(pool.world.register().objectLeaseMs()).isEqualTo(60_000);
        assertThat(pool.as(A).remove("k", false)).isEqualTo(Status.HAS_LEASE);
        pool.world.run(60_000);
        assertThat(pool.as(A).remove("k", false)).isEqualTo(Status.OK);
    }

    private void withoutLease() {
        pool.world.setRegister(pool.world.register().leasedAtMost(0));
    }

    @Test
    void whatStorageNodesKnowOfLeasesCountsWhenTheRegisterDoesNotSay() {
        pool.leading(1).talkedTo().goBy(leasing(60_000));
        pool.world.run(100);
        assertThat(pool.as(A).put("k", 100)).isEqualTo(Status.OK);
        remembers(engineOfB("engine"), Scenario.authority(1), DAY_MS, ObjectId.NONE);
        withoutLease();
        nextLeaderServes(2);
        everyPromiseEnds();

        assertThat(pool.world.register().objectLeaseMs()).isEqualTo(60_000);
        assertThat(pool.as(A).remove("k", false)).isEqualTo(Status.HAS_LEASE);
        pool.world.run(60_000);
        assertThat(pool.as(A).remove("k", false)).isEqualTo(Status.OK);
        assertThat(pool.world.register().objectLeaseMs()).isEqualTo(Scenario.OBJECT_LEASE_MS);
    }

    private boolean isOnM(int number) {
        Key key = A.qualify(Key.of("k" + number));
        return pool.talkedTo().core().holders(key).contains("m");
    }

    /** A leader that has not heard all of them leaves the question to the next one. */
    @Test
    void noRegisterSaysOfLeasesWhatSomeNodesAloneKnow() {
        pool.leading(1).talkedTo().goBy(leasing(60_000));
        pool.world.run(100);
        pool.as(A).fill("k", 10);
        String onM =
                "k" + IntStream.range(0, 10).filter(this::isOnM).findFirst().orElseThrow();
        pool.standBy();
        pool.crash("m");
        pool.crash("n");
        pool.node("n").wipe();
        pool.restart("n");
        withoutLease();
        nextLeaderServes(2);
        pool.world.run(11_000);
        assertThat(pool.as(A).put("l", 100)).isEqualTo(Status.OK);
        assertThat(pool.world.register().objectLeaseMs()).isZero();
        pool.standBy();
        pool.restart("m");
        nextLeaderServes(3);
        everyPromiseEnds();

        assertThat(pool.world.register().objectLeaseMs()).isEqualTo(60_000);
        assertThat(pool.as(A).remove(onM, false)).isEqualTo(Status.HAS_LEASE);
    }

    @Test
    void itDoesNotHoldBackALongerLease() {
        ModelNode engine = engineOfB("engine");
        pool.leading(1);
        pool.world.run(1_000);
        engine.mute(true);
        pool.talkedTo().goBy(leasing(60_000));
        pool.world.run(100);

        assertThat(pool.world.register().objectLeaseMs()).isEqualTo(60_000);
        assertThat(pool.lookup("k").leaseMs()).isEqualTo(60_000);
    }

    @Test
    void theRegisterHasALongerLeaseUntilItsPromisesHaveEnded() {
        pool.leading(1).talkedTo().goBy(leasing(60_000));
        pool.world.run(100);
        pool.talkedTo().goBy(leasing(1_000));
        pool.world.run(59_000);
        assertThat(pool.world.register().objectLeaseMs()).isEqualTo(60_000);
        pool.world.run(2_000);
        assertThat(pool.world.register().objectLeaseMs()).isEqualTo(1_000);
    }

    // ---- removals -----------------------------------------------------------------------------------------------

    @Test
    void itRemovesNothingOfOthersWhenTheRegisterIsLost() {
        pool.leading(1);
        assertThat(pool.as(A).put("k", 100)).isEqualTo(Status.OK);
        remembers(engineOfB("engine"), Scenario.authority(1), 0, new ObjectId(1, Long.MAX_VALUE));
        pool.world.setRegister(Register.NONE);
        nextLeaderServes(2);
        pool.world.run(1_000);

        assertThat(pool.as(A).find("k").status()).isEqualTo(Status.OK);
        assertThat(pool.node("n").purgeId()).isEqualTo(ObjectId.NONE);
        assertThat(pool.world.register().purgeId()).isEqualTo(ObjectId.NONE);
        assertThat(pool.put("l", 100)).isEqualTo(Status.OK);
    }

    @Test
    void itDoesNotHoldUpTheRemovalOfEverything() {
        ModelNode engine = engineOfB("engine");
        pool.leading(1);
        pool.world.run(2_000);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        engine.ignorePurges();
        removesEverythingWithin(Bounds.COMMAND_WAIT_MS + 100);
    }

    private void removesEverythingWithin(long ms) {
        long request = pool.nextRequest();
        pool.send(new RemoveAllRequest(request, true, ""));
        pool.world.run(ms);

        assertThat(pool.reply(request, RemoveAllReply.class).status()).isEqualTo(Status.OK);
        assertThat(pool.reason("engine")).contains("does not do what it is told");
    }

    @ParameterizedTest
    @EnumSource(names = {"INTERNAL", "UNAVAILABLE"})
    void neitherDoesOneThatSaysThatItCannotRemoveIt(Status why) {
        ModelNode engine = engineOfB("engine");
        pool.leading(1);
        pool.world.run(2_000);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        engine.refusePurges(why);
        removesEverythingWithin(1_000);
    }

    /** Where engines alone have memory, one that was told of a removal must come in again when the register has forgotten it. */
    @Test
    void whatItKnowsOfARemovalDoesNotShutItOut() {
        Scenario engines = new Scenario();
        ModelNode engine = engines.transientNode("engine", MIB).ofTenant(B);
        engines.leading(1);
        engines.world.run(2_000);
        remembers(engine, Scenario.authority(1), 0, new ObjectId(1, 50));
        engines.world.setRegister(Register.NONE);
        ModelMaster next = engines.master();
        engines.standBy();
        engines.lead(next, 2).talkTo(next);
        engines.world.run(70_000);
        engine.hangUp(next);
        engine.dial(next);
        engines.world.run(2_000);

        assertThat(engines.as(B).put("k", 100)).isEqualTo(Status.OK);
    }

    // ---- names --------------------------------------------------------------------------------------------------

    private Optional<Objection> objection(String id, Optional<Tenant> tenant) {
        NodePeer peer = new NodePeer(id, 1, "0.1.0", true, tenant);
        return pool.talkedTo().core().nodeConnected(1L << 40, peer, pool.world.nowMs());
    }

    @Test
    void itsNamesLeaveRoomForStorageNodesAndForOtherTenants() {
        pool.withReplicas(2).leading(1);
        List<ModelNode> engines = new ArrayList<>();
        for (int i = 0; i < 900; i++) {
            engines.add(engineOfB("x".repeat(120) + i));
            engines.getLast().dial(pool.talkedTo());
        }
        pool.world.run(1_000);
        int members = pool.world.register().members().size();
        assertThat(members).isBetween(300, 500);
        assertThat(objection("x".repeat(120) + 900, Optional.of(B))
                        .orElseThrow()
                        .message())
                .contains("engines of this pool do", "of tenant b", "global_segment_size");
        assertThat(pool.talkedTo().status().counters().get(Count.LENDING_REFUSED))
                .isEqualTo(901 - (members - 2));

        pool.transientNode("engine-of-a", MIB).ofTenant(A).dial(pool.talkedTo());
        pool.talkedTo().core().expectNodes(Map.of("n", "", "m", "", "late", ""), pool.world.nowMs());
        pool.unexpectedNode("late", MIB).dial(pool.talkedTo());
        pool.world.run(1_000);
        assertThat(pool.world.register().members()).containsKeys("engine-of-a", "late");

        pool.as(A);
        for (int i = 0; i < 20; i++) {
            assertThat(pool.put("k" + i, 1)).isEqualTo(Status.OK);
        }
        pool.crash("m");
        for (int i = 0; i < 20; i++) {
            assertThat(pool.remove("k" + i, true)).isEqualTo(Status.OK);
        }
        assertThat(pool.world.register().behind()).containsExactly("m");

        engines.forEach(ModelNode::crash);
        pool.world.run(10_000);
        assertThat(pool.world.register().members()).containsOnlyKeys("engine-of-a", "late", "m", "n");
    }

    @Test
    void aNameIsNotLongerThanEnginesHaveThem() {
        pool.leading(1);
        assertThat(objection("e".repeat(129), Optional.of(B)).orElseThrow().message())
                .contains("129 characters", "at most 128", "host name");
        assertThat(objection("e".repeat(128), Optional.of(B))).isEmpty();
    }

    /** Nor do the engines of a pool without certificates leave no room for storage nodes. */
    @Test
    void allEnginesTogetherLeaveRoomForStorageNodes() {
        pool.leading(1);
        for (int i = 0; i < 900; i++) {
            pool.transientNode("x".repeat(120) + i, MIB).dial(pool.talkedTo());
        }
        pool.world.run(1_000);
        assertThat(pool.world.register().members()).hasSizeBetween(400, 600);
        assertThat(objection("x".repeat(120) + 900, Optional.empty())
                        .orElseThrow()
                        .message())
                .contains("engines of this pool do");
        pool.talkedTo().core().expectNodes(Map.of("n", "", "m", "", "late", ""), pool.world.nowMs());
        assertThat(objection("late", Optional.empty())).isEmpty();
    }

    @Test
    void enginesOfAPoolWithoutTenantsHaveAllThatIsForEngines() {
        pool.leading(1);
        for (int i = 0; i < 900; i++) {
            pool.transientNode("x".repeat(120) + i, MIB)
                    .ofTenant(Tenant.DEFAULT)
                    .dial(pool.talkedTo());
        }
        pool.world.run(1_000);
        assertThat(pool.world.register().members()).hasSizeBetween(400, 600);
        assertThat(objection("x".repeat(120) + 900, Optional.of(Tenant.DEFAULT))
                        .orElseThrow()
                        .message())
                .contains("engines of this pool do");
    }

    private List<ModelNode> registerFullOfEngines() {
        pool.leading(1);
        for (int i = 0; i < 900; i++) {
            pool.transientNode("x".repeat(120) + i, MIB)
                    .ofTenant(Tenant.DEFAULT)
                    .dial(pool.talkedTo());
        }
        pool.world.run(1_000);
        List<ModelNode> enrolled = new ArrayList<>();
        pool.world.register().members().forEach((id, member) -> {
            if (member.isTransient()) {
                enrolled.add(pool.node(id));
            }
        });
        assertThat(enrolled).hasSizeBetween(400, 600);
        return enrolled;
    }

    private void allOfThemTakePart(List<ModelNode> engines) {
        pool.world.run(1_000);
        assertThat(pool.talkedTo().status().nodes())
                .filteredOn(node -> node.state().servesReaders())
                .extracting(PoolStatus.Node::id)
                .containsAll(engines.stream().map(engine -> engine.id).toList());
        assertThat(pool.talkedTo().status().counters().get(Count.LENDING_REFUSED))
                .isPositive();
    }

    /** To the next leader, which no engine has dialled yet, the register tells that all places are taken, by these. */
    @Test
    void enginesOfAFullRegisterComeInAtTheNextLeader() {
        List<ModelNode> enrolled = registerFullOfEngines();
        ModelMaster next = pool.lonelyMaster();
        pool.standBy();
        pool.lead(next, 2).talkTo(next);
        assertThat(objection("x".repeat(120) + 900, Optional.of(Tenant.DEFAULT))
                        .orElseThrow()
                        .message())
                .contains("engines of this pool do");
        pool.nodes.values().forEach(node -> node.dial(next));

        allOfThemTakePart(enrolled);
    }

    /** Objects that only they have would be lost if others could be sooner. */
    @Test
    void theyComeInAlsoWhereOthersAreSooner() {
        List<ModelNode> enrolled = registerFullOfEngines();
        ModelMaster next = pool.lonelyMaster();
        for (int i = 0; i < 900; i++) {
            pool.transientNode("y".repeat(120) + i, MIB)
                    .ofTenant(Tenant.DEFAULT)
                    .dial(next);
        }
        pool.world.run(100);
        pool.standBy();
        pool.lead(next, 2).talkTo(next);
        pool.nodes.values().forEach(node -> node.dial(next));

        allOfThemTakePart(enrolled);
    }

    // ---- epochs -------------------------------------------------------------------------------------------------

    private void shows(ModelNode engine, ObjectId id) {
        engine.keep(id, B.qualify(Key.of("x")), 100, Retention.NONE);
        pool.world.run(0);
    }

    /** What a leader finds of its own term it cannot have granted, and begins again with a higher one: for ever, if that were believed. */
    @Test
    void anObjectOfATermThatBeginsDoesNotHoldItUp() {
        List<Long> raises = new ArrayList<>();
        ModelNode engine = engineOfB("engine");
        pool.node("n").mute(true);
        pool.leading(3).talkedTo().onRaise(raises::add);
        assertThat(pool.talkedTo().status().state()).isEqualTo(PoolStatus.State.RECOVERING);
        shows(engine, new ObjectId(3, 7));
        assertThat(pool.reason("engine")).contains("object 3.7, which this leader has not granted yet");
        pool.node("n").mute(false);
        pool.world.run(1_000);

        assertThat(raises).isEmpty();
        assertThat(pool.as(A).put("k", 100)).isEqualTo(Status.OK);
        assertThat(pool.talkedTo().status().counters().get(Count.SET_APART_VIOLATION))
                .isEqualTo(1);
    }

    /** Each time that it is asked to obey, it shows an object of the epoch that it is told. */
    private List<Long> raisesWhileShowing(ModelNode liar) {
        List<Long> raises = new ArrayList<>();
        pool.node("n").mute(true);
        ModelMaster leader = pool.leading(3).talkedTo();
        leader.onRaise(raises::add);
        long epoch = 3;
        for (int term = 0; term < 8; term++) {
            liar.dial(leader);
            liar.keep(new ObjectId(epoch, 7), Key.of("x" + term), 100, Retention.NONE);
            pool.world.run(Bounds.FENCE_WAIT_WARM_MS + 50);
            if (!raises.isEmpty() && raises.getLast() == epoch) {
                epoch++;
                pool.lead(leader, epoch);
            }
        }
        pool.node("n").mute(false);
        pool.world.run(0);
        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        return raises;
    }

    @Test
    void neitherDoesThatOfAnEngineWithoutACertificate() {
        assertThat(raisesWhileShowing(pool.transientNode("engine", MIB))).isEmpty();
    }

    @Test
    void norThatOfAProcessUnderTheNameOfAStorageNode() {
        assertThat(raisesWhileShowing(pool.node("m"))).isEmpty();
    }

    @Test
    void objectsToComeAreNotThere() {
        ModelNode engine = engineOfB("engine");
        pool.leading(3);
        assertThat(pool.as(A).put("k", 100)).isEqualTo(Status.OK);
        shows(engine, new ObjectId(3, 1_000));

        assertThat(pool.reason("engine")).contains("object 3.1000, which this leader has not granted yet");
        assertThat(pool.as(A).put("l", 100)).isEqualTo(Status.OK);
    }

    @Test
    void itsWordAboutAnotherLeaderEndsNoTerm() {
        List<Long> raises = new ArrayList<>();
        pool.leading(3).talkedTo().onRaise(raises::add);
        ModelNode engine = engineOfB("engine");
        engine.crash();
        remembers(engine, new Authority(4, 77), 0, ObjectId.NONE);
        engine.start();
        engine.dial(pool.talkedTo());
        pool.node("n").crash();
        remembers(pool.node("n"), new Authority(5, 77), 0, ObjectId.NONE);
        pool.world.run(1_000);
        assertThat(raises).isEmpty();
        assertThat(pool.as(A).put("k", 100)).isEqualTo(Status.OK);

        pool.restart("n");
        assertThat(raises).as("that of a storage node does").containsExactly(5L);
    }

    // ---- capacity -----------------------------------------------------------------------------------------------

    /** Memory that it says to have lets no more be retained than the pool can do without. */
    @Test
    void itsCapacityIsNotThePools() {
        pool.transientNode("engine", NativeNode.SEGMENT_BYTES_MAX).ofTenant(B);
        pool.leading(1);
        pool.world.run(2_000);
        int refused = 0;
        for (int i = 0; i < 15; i++) {
            assertThat(pool.as(A).put("k" + i, 100_000)).isEqualTo(Status.OK);
            Hinted hinted = pool.hint(Hint.RETAIN, 60_000, false, "k" + i);
            refused += hinted.status() == Status.NO_SPACE ? 1 : 0;
        }
        assertThat(refused)
                .as("of the half that may be retained a tenant gets three quarters")
                .isEqualTo(8);
    }
}
