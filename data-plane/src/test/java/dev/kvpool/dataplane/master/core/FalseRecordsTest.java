// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Medium;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What an engine with a certificate shows of ids that are not its own: nothing of others is lost, whichever comes first. */
class FalseRecordsTest {
    private static final long MIB = 1 << 20;
    private static final int OBJECTS = 20;
    private static final Tenant A = Tenant.of("a");
    private static final Tenant B = Tenant.of("b");

    private final Scenario pool = new Scenario().withNodes(MIB, "n", "m");

    /** One that has to be told whom to dial. */
    private ModelNode engineOf(Tenant tenant) {
        return pool.transientNode("engine", MIB).ofTenant(tenant);
    }

    private static void claims(ModelNode engine, Tenant tenant, List<ObjectId> ids) {
        for (ObjectId id : ids) {
            engine.keep(id, tenant.qualify(Key.of("mine-" + id)), 10, Retention.NONE);
        }
    }

    private List<ObjectId> filled() {
        pool.as(A).fill("k", OBJECTS);
        List<ObjectId> ids = new ArrayList<>();
        for (String node : List.of("n", "m")) {
            pool.node(node).directory().stream().map(DirectoryRecord::objectId).forEach(ids::add);
        }
        assertThat(ids).hasSize(OBJECTS);
        return ids;
    }

    private void dialAll(ModelMaster master, String... nodes) {
        for (String node : nodes) {
            pool.node(node).dial(master);
            pool.world.run(100);
        }
    }

    private void everythingIsThere() {
        for (int i = 0; i < OBJECTS; i++) {
            assertThat(pool.as(A).find("k" + i).status()).as("k" + i).isEqualTo(Status.OK);
        }
        assertThat(pool.present("n", "\0a\0k", OBJECTS) + pool.present("m", "\0a\0k", OBJECTS))
                .isEqualTo(OBJECTS);
    }

    private void leadsUntilAllLeasesEnd(ModelMaster next) {
        pool.standBy();
        pool.lead(next, 2).talkTo(next);
        allLeasesEnd();
    }

    private void allLeasesEnd() {
        pool.pass(Scenario.LEASE_DURATION_MS + 2 * Scenario.OBJECT_LEASE_MS);
    }

    @Test
    void aStandbyThatHearsThemFirstLosesNothingWhenItLeads() {
        pool.leading(1);
        List<ObjectId> ids = filled();
        claims(engineOf(B), B, ids);
        ModelMaster next = pool.lonelyMaster();
        dialAll(next, "engine", "n", "m");
        leadsUntilAllLeasesEnd(next);

        everythingIsThere();
    }

    @Test
    void noMoreDoesOneThatBeganToLeadWithoutAView() {
        pool.leading(1);
        List<ObjectId> ids = filled();
        claims(engineOf(B), B, ids);
        pool.standBy();
        ModelMaster next = pool.lonelyMaster();
        pool.lead(next, 2).talkTo(next);
        dialAll(next, "engine", "n", "m");
        allLeasesEnd();

        everythingIsThere();
    }

    @Test
    void whatIsBeingPutIsPublishedThoughAnEngineShowsItsIdFirst() {
        pool.leading(1);
        filled();
        ModelNode engine = engineOf(B);
        engine.dial(pool.talkedTo());
        pool.world.run(100);
        engine.mute(true); // it frees nothing
        GrantReply reply = pool.as(A).grant("l", 100);
        ObjectId granted = reply.grants().getFirst().objectId();
        claims(engine, B, List.of(granted));
        pool.world.run(100);

        List<Long> written = pool.write(reply, "l", 100);
        assertThat(pool.published(pool.publish(granted, "l", written))).isEqualTo(Status.OK);
        everythingIsThere();
    }

    /** Its certificate may be of the tenant that put it: then what the storage node has is still what was put. */
    @Test
    void aStorageNodeComesBeforeAnEngineOfTheSameTenant() {
        pool.leading(1);
        List<ObjectId> ids = filled();
        ModelNode engine = engineOf(A);
        claims(engine, A, ids.subList(0, OBJECTS / 2));
        for (String node : List.of("n", "m")) {
            pool.node(node).directory().stream()
                    .filter(it -> ids.indexOf(it.objectId()) >= OBJECTS / 2)
                    .forEach(it -> engine.keep(it.objectId(), it.key(), 10, Retention.NONE));
        }
        ModelMaster next = pool.lonelyMaster();
        dialAll(next, "engine", "n", "m");
        leadsUntilAllLeasesEnd(next);

        everythingIsThere();
    }

    /** Storage nodes have what other engines have shown, too: it is copied there like all else, with its id. */
    @Test
    void anHonestEngineIsNotSetApartForWhatAStorageNodeHasOfAnother() {
        pool.leading(1);
        ModelNode ofA = pool.transientNode("of-a", MIB).ofTenant(A);
        ofA.dial(pool.talkedTo());
        pool.world.run(2_000);
        pool.as(B).fill("x", OBJECTS);
        ofA.hangUp(pool.talkedTo());
        ofA.keep(new ObjectId(1, 2), A.qualify(Key.of("k")), 10, Retention.NONE);
        ModelMaster next = pool.lonelyMaster();
        dialAll(next, "n", "m", "of-a");
        leadsUntilAllLeasesEnd(next);

        assertThat(pool.as(A).find("k").status()).isEqualTo(Status.OK);
        for (int i = 0; i < OBJECTS; i++) {
            assertThat(pool.as(B).find("x" + i).status()).isEqualTo(Status.OK);
        }
        assertThat(next.status().counters().get(Count.SET_APART_VIOLATION)).isZero();
    }

    /** Its writer changed the buffer: the put was acknowledged for what the engine has. */
    @Test
    void whatReadersFindDoesNotGiveWay() {
        pool.leading(1);
        ModelNode engine = engineOf(A);
        engine.dial(pool.talkedTo());
        pool.world.run(2_000);
        GrantReply reply = pool.as(A).grant("l", 100);
        ObjectId granted = reply.grants().getFirst().objectId();
        engine.keep(granted, A.qualify(Key.of("l")), 100, Retention.NONE);
        pool.world.run(0);
        assertThat(pool.published(pool.publish(granted, "l", List.of(engine.incarnation()))))
                .isEqualTo(Status.OK);
        pool.node("n").keep(granted, A.qualify(Key.of("l")), 90, Retention.NONE);
        allLeasesEnd();

        assertThat(pool.find("l").payloadLength()).isEqualTo(100);
    }

    /** None of the two is believed more: each has what it shows. */
    @Test
    void enginesOfTwoTenantsThatShowOneIdDoNotHarmOneAnother() {
        Scenario engines = new Scenario();
        ModelNode ofA = engines.transientNode("of-a", MIB).ofTenant(A);
        ModelNode ofB = engines.transientNode("of-b", MIB).ofTenant(B);
        engines.leading(1);
        engines.world.run(2_000);
        engines.as(A).fill("k", 1);
        ObjectId id = ofA.directory().getFirst().objectId();
        ModelMaster next = engines.lonelyMaster();
        ofB.hangUp(engines.talkedTo());
        ofB.keep(id, B.qualify(Key.of("mine")), 10, Retention.NONE);
        ofB.dial(next);
        engines.world.run(100);
        ofA.dial(next);
        engines.world.run(100);
        engines.standBy();
        engines.lead(next, 2).talkTo(next);
        engines.pass(Scenario.LEASE_DURATION_MS + 2 * Scenario.OBJECT_LEASE_MS);

        assertThat(engines.as(A).find("k0").status()).isEqualTo(Status.OK);
        assertThat(ofA.directory()).hasSize(1);
        assertThat(engines.as(A).remove("k0", true)).isEqualTo(Status.OK);
    }

    // ---- room ---------------------------------------------------------------------------------------------------

    /** Small, so that an engine of a thousand objects with long keys would fill it. */
    private final Scenario small = new Scenario().withNodes(64 * MIB, "n", "m").withRecordBytes(512 << 10);

    private static void floods(ModelNode engine, int objects) {
        for (int i = 0; i < objects; i++) {
            engine.keep(new ObjectId(1, 1_000_000 + i), B.qualify(Key.of("x".repeat(500) + i)), 10, Retention.NONE);
        }
    }

    private void onlyTheEngineIsSetApart(String why) {
        assertThat(small.talkedTo().reports())
                .anySatisfy(it -> assertThat(it).contains("node engine is set apart", why))
                .noneSatisfy(it -> assertThat(it).contains("node n is set apart"))
                .noneSatisfy(it -> assertThat(it).contains("node m is set apart"));
    }

    private void othersPutAndFind(String prefix, int objects) {
        small.as(A);
        for (int i = 0; i < objects; i++) {
            assertThat(small.put(prefix + i, 100)).as(prefix + i).isEqualTo(Status.OK);
            assertThat(small.find(prefix + i).status()).isEqualTo(Status.OK);
        }
    }

    @Test
    void anEngineThatComesWithMoreRecordsThanItsPartOfTheIndexIsSetApart() {
        ModelNode engine = small.transientNode("engine", 64 * MIB).ofTenant(B);
        floods(engine, 1_000);
        small.leading(2);

        onlyTheEngineIsSetApart("engines have a part");
        small.pass(10_000); // until it is forgotten
        othersPutAndFind("k", 1_000);
        assertThat(small.talkedTo().status().nodesSetApart()).isLessThanOrEqualTo(1);
    }

    @Test
    void soIsOneThatShowsThemOneByOne() {
        ModelNode engine = small.transientNode("engine", 64 * MIB).ofTenant(B);
        small.leading(2);
        small.world.run(2_000);
        othersPutAndFind("k", 100);
        floods(engine, 1_000);
        small.world.run(100);

        onlyTheEngineIsSetApart("engines have a part");
        small.pass(10_000);
        othersPutAndFind("l", 100);
    }

    @Test
    void aSlotThatAnEngineDoesNotHaveSetsItApart() {
        ModelNode engine = small.transientNode("engine", 64 * MIB).ofTenant(B);
        small.leading(2);
        small.world.run(2_000);
        for (int i = 0; i < 1_024; i++) {
            engine.keep(new ObjectId(1, 1 + i), B.qualify(Key.of("k" + i)), 10, Retention.NONE);
        }
        small.world.run(100);

        onlyTheEngineIsSetApart("a record in slot 1024 of 1024");
    }

    @Test
    void anEngineHasNoMoreSlotsThanItsMemoryHasRoomFor() {
        pool.leading(1);
        introduces("large", 4 * MIB, 2_048);
        assertThat(pool.talkedTo().reports()).noneSatisfy(it -> assertThat(it).contains("set apart"));
        introduces("small", 4 * MIB, 2_049);
        assertThat(pool.talkedTo().reports())
                .anySatisfy(it -> assertThat(it).contains("node small is set apart", "more slots"));
    }

    private void introduces(String id, long bytes, long slots) {
        MasterCore core = pool.talkedTo().core();
        long session = 1L << 40 | id.hashCode();
        NodePeer peer = new NodePeer(id, 1, "0.1.0", true, Optional.of(B));
        assertThat(core.nodeConnected(session, peer, pool.world.nowMs())).isEmpty();
        NodeInfo info = new NodeInfo(
                Authority.NONE,
                ObjectId.NONE,
                0,
                ObjectId.NONE,
                true,
                Restored.NOTHING,
                1,
                ActiveVersions.UNKNOWN,
                List.of(new Segment(ExtentRef.MEMORY, Medium.DRAM, bytes, slots)),
                id + ":50061",
                "",
                "");
        core.receive(session, info, pool.world.nowMs());
        pool.world.run(100);
    }

    @Test
    void anEngineThatDoesNotFreeWhatItIsToldToIsSetApart() {
        Scenario engines = new Scenario();
        ModelNode engine = engines.transientNode("engine", MIB).ofTenant(B);
        engine.heartbeatEvery(1_000);
        engines.leading(1);
        engines.world.run(2_000);
        engines.as(B).fill("k", 1);
        engine.mute(true);
        engines.beginRemoval("k0", true);
        engines.pass(50_000);
        assertThat(engines.talkedTo().reports())
                .noneSatisfy(it -> assertThat(it).contains("set apart"));
        engines.pass(15_000);

        assertThat(engines.talkedTo().reports())
                .anySatisfy(it -> assertThat(it).contains("engine is set apart", "does not free"));
    }
}
