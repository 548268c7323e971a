// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.report.TenantStatus;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.Hinted;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Hint;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What clients of one tenant see, remove and keep of the objects of another under the same keys and groups: nothing. */
class TenantsTest {
    private static final Tenant A = Tenant.of("a");
    private static final Tenant B = Tenant.of("b");
    private static final Retention GROUP_G = Retention.of(false, false, 0, 0xaf63da4c8601e926L); // kv_group_id of "g"

    private static Scenario pool() {
        return new Scenario().withNodes(1 << 20, "n", "m").leading(1);
    }

    @Test
    void theSameKeyIsAnotherObjectOfEachTenant() {
        Scenario pool = pool();
        assertThat(pool.put("k", 1)).isEqualTo(Status.OK);
        assertThat(pool.as(A).exists("k")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.put("k", 20)).isEqualTo(Status.OK);
        assertThat(pool.as(B).put("k", 300)).isEqualTo(Status.OK);
        assertThat(pool.upsert("k", 301)).isEqualTo(Status.OK);

        assertThat(pool.as(A).find("k").payloadLength()).isEqualTo(20);
        assertThat(pool.as(B).find("k").payloadLength()).isEqualTo(301);
        assertThat(pool.as(Tenant.DEFAULT).find("k").payloadLength()).isEqualTo(1);
        assertThat(pool.talkTo(pool.talkedTo()).find("k").payloadLength())
                .as("a plain peer")
                .isEqualTo(1);
    }

    @Test
    void keysThatAreQualifiedAlreadyAreNoKeys() {
        Scenario pool = pool();
        pool.as(A).put("k", 1);
        String ofA = A.qualify(Key.of("k")).toString();
        for (Tenant tenant : List.of(Tenant.DEFAULT, A, B)) {
            pool.as(tenant);
            assertThat(pool.find(ofA).status()).isEqualTo(Status.INVALID_KEY);
            assertThat(pool.exists(ofA)).isEqualTo(Status.INVALID_KEY);
            assertThat(pool.put(ofA, 1)).isEqualTo(Status.INVALID_KEY);
            assertThat(pool.remove(ofA, true)).isEqualTo(Status.INVALID_KEY);
            assertThat(pool.hint(Hint.RELEASE, 0, false, ofA).status()).isEqualTo(Status.INVALID_KEY);
        }
        assertThat(pool.talkTo(pool.talkedTo()).find(ofA).status())
                .as("a plain peer")
                .isEqualTo(Status.INVALID_KEY);
        assertThat(pool.as(A).exists("k")).isEqualTo(Status.OK);
    }

    @Test
    void aKeyIsAsLongAsTheQualifiedOneMayBe() {
        Scenario pool = pool();
        int most = Key.BYTES_MAX - A.qualify(Key.of("k")).length() + 1;
        assertThat(pool.as(A).put("k".repeat(most), 1)).isEqualTo(Status.OK);
        assertThat(pool.put("k".repeat(most + 1), 1)).isEqualTo(Status.INVALID_KEY);
        assertThat(pool.as(Tenant.DEFAULT).put("k".repeat(most + 1), 1)).isEqualTo(Status.OK);
    }

    @Test
    void aRemovalIsOfTheTenant() {
        Scenario pool = pool();
        pool.as(A).put("k", 1);
        assertThat(pool.as(B).remove("k", true)).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.as(A).find("k").status()).isEqualTo(Status.OK);
        assertThat(pool.as(B).remove("k", false))
                .as("not held by the lease of another")
                .isEqualTo(Status.NOT_FOUND);
    }

    @Test
    void everythingIsEverythingOfTheTenant() {
        for (boolean force : List.of(false, true)) {
            for (Tenant who : List.of(Tenant.DEFAULT, A)) {
                Scenario pool = pool();
                pool.put("k0", 1);
                pool.as(A).put("k0", 1);
                pool.put("k1", 1);
                pool.as(B).put("k0", 1);
                assertThat(pool.as(who).removeAll(force).removed()).isEqualTo(who.isDefault() ? 1 : 2);
                for (Tenant other : List.of(Tenant.DEFAULT, A, B)) {
                    assertThat(pool.as(other).exists("k0"))
                            .as("%s after all of %s", other, who)
                            .isEqualTo(other.equals(who) ? Status.NOT_FOUND : Status.OK);
                }
            }
        }
    }

    @Test
    void aPlainPeerRemovesWhatIsOfNoTenant() {
        Scenario pool = pool();
        pool.put("k", 1);
        pool.as(A).put("k", 1);
        assertThat(pool.talkTo(pool.talkedTo()).removeAll(true).removed()).isEqualTo(1);
        assertThat(pool.as(A).exists("k")).isEqualTo(Status.OK);
    }

    /** One number says it, also to nodes that are away. */
    @Test
    void whereATenantWasConnectedOnceTheDefaultOneRemovesEverythingAtOnceAgain() {
        Scenario pool = pool();
        pool.as(A).disconnect();
        pool.as(Tenant.DEFAULT).put("k", 1);
        assertThat(pool.removeAll(true).removed()).isEqualTo(1);
        assertThat(pool.world.register().purgeId()).isNotEqualTo(ObjectId.NONE);
    }

    @Test
    void theAdminRemovesAllOfThePoolOrOfOneTenant() {
        Scenario pool = pool();
        pool.put("k", 1);
        pool.as(A).put("k", 1);
        pool.as(B).put("k", 1);
        MasterCore core = pool.talkedTo().core();
        core.receive(B, new RemoveAllRequest(1, true, ""), pool.world.nowMs());
        pool.world.run(20);
        assertThat(pool.as(B).exists("k")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.as(A).exists("k")).isEqualTo(Status.OK);

        core.receive(MasterCore.LOCAL_SESSION, new RemoveAllRequest(2, true, ""), pool.world.nowMs());
        pool.world.run(20);
        assertThat(pool.as(A).exists("k")).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.as(Tenant.DEFAULT).exists("k")).isEqualTo(Status.NOT_FOUND);
    }

    /** While tenants may have something on a node that is away, a removal of all of the default one must not reach what lies there. */
    @Test
    void whatLiesOnANodeThatIsAwayIsSpared() {
        Scenario pool = new Scenario().withNodes(1 << 20, "n").leading(1);
        pool.as(A).put("k", 1);
        pool.crash("n");
        ModelMaster next = pool.master();
        pool.lead(next, 2);
        pool.world.run(15_000);
        pool.talkTo(next).as(Tenant.DEFAULT);
        pool.send(new RemoveAllRequest(pool.nextRequest(), true, ""));
        pool.world.run(1_000);
        pool.restart("n");
        pool.world.run(1_000);
        assertThat(pool.as(A).exists("k")).isEqualTo(Status.OK);
    }

    /** Where clients without certificates come beside those of tenants, and none of those is connected just now. */
    @Test
    void aPlainPeerSparesWhatLiesOnANodeThatIsAwayWhereATenantWasConnectedOnce() {
        Scenario pool = new Scenario().withNodes(1 << 20, "n").leading(1);
        pool.as(A).put("k", 1);
        pool.crash("n");
        ModelMaster next = pool.master();
        pool.lead(next, 2);
        pool.world.run(15_000);
        pool.talkTo(next).as(A).disconnect();
        pool.talkTo(next);
        pool.send(new RemoveAllRequest(pool.nextRequest(), true, ""));
        pool.world.run(1_000);
        pool.restart("n");
        pool.world.run(1_000);
        assertThat(pool.as(A).exists("k")).isEqualTo(Status.OK);
    }

    @Test
    void aPatternSeesTheKeyOfTheTenantAlone() {
        Scenario pool = pool();
        for (Tenant tenant : List.of(Tenant.DEFAULT, A, B)) {
            pool.as(tenant).put("a-1", 1);
            pool.put("x", 1);
        }
        assertThat(pool.as(A).removeMatching("^a", true).removed()).isEqualTo(1);
        assertThat(pool.removeMatching("a", true).removed())
                .as("not in the prefix")
                .isZero();
        assertThat(pool.as(Tenant.DEFAULT).removeMatching("^a-1$", true).removed())
                .isEqualTo(1);
        assertThat(pool.removeMatching("\\x00", true).removed()).isZero();
        assertThat(pool.as(B).exists("a-1")).isEqualTo(Status.OK);
    }

    @Test
    void groupsOfOneNameAreGroupsOfEachTenant() {
        Scenario pool = pool().keeping(GROUP_G);
        for (Tenant tenant : List.of(Tenant.DEFAULT, A, B)) {
            pool.as(tenant).put("k0", 1);
            pool.put("k1", 1);
        }
        assertThat(pool.as(A).hint(Hint.RETAIN, 60_000, true, "g")).isEqualTo(new Hinted(Status.OK, 2));
        assertThat(pool.as(B).removeGroup("g", true)).isEqualTo(Status.OK);
        assertThat(pool.removeGroup("g", true)).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.as(A).hint(Hint.RELEASE, 0, true, "g")).isEqualTo(new Hinted(Status.OK, 2));
        assertThat(pool.as(Tenant.DEFAULT).hint(Hint.RELEASE, 0, true, "g")).isEqualTo(new Hinted(Status.OK, 2));
    }

    @Test
    void aLeaseOnAGroupIsTheTenants() {
        Scenario pool = pool().keeping(GROUP_G);
        pool.as(A).put("k0", 1);
        pool.as(B).put("k0", 1);
        pool.put("k1", 1);
        pool.as(A).find("k0");
        assertThat(pool.as(B).remove("k1", false)).isEqualTo(Status.OK);
    }

    @Test
    void aTaskIsKnownToItsTenantOnly() {
        Scenario pool = pool();
        pool.as(A).put("k", 1);
        String holder = pool.talkedTo().core().holders(A.qualify(Key.of("k"))).getFirst();
        CopyRequest copy =
                new CopyRequest(pool.nextRequest(), Key.of("k"), "", List.of(holder.equals("n") ? "m" : "n"));
        pool.send(copy);
        long task = pool.reply(copy.requestId(), TaskReply.class).report().task();
        assertThat(statusOf(pool.as(B), task)).isEqualTo(Status.NOT_FOUND);
        assertThat(statusOf(pool.as(Tenant.DEFAULT), task)).isEqualTo(Status.NOT_FOUND);
        assertThat(statusOf(pool.as(A), task)).isEqualTo(Status.OK);
    }

    private static Status statusOf(Scenario pool, long task) {
        TaskQuery query = new TaskQuery(pool.nextRequest(), task);
        pool.send(query);
        return pool.reply(query.requestId(), TaskReply.class).status();
    }

    @Test
    void aGrantIsPublishedByItsTenantOnly() {
        Scenario pool = pool();
        GrantReply grant = pool.as(A).grant("k", 1);
        List<Long> written = pool.write(grant, "k", 1);
        pool.as(B);
        assertThat(pool.published(pool.publish(grant.grants().getFirst().objectId(), "k", written)))
                .isEqualTo(Status.STALE_EPOCH);
        assertThat(pool.exists("k")).isEqualTo(Status.NOT_FOUND);
        pool.as(A);
        assertThat(pool.published(pool.publish(grant.grants().getFirst().objectId(), "k", written)))
                .isEqualTo(Status.OK);
    }

    @Test
    void aNewLeaderKnowsWhoseObjectsAre() {
        Scenario pool = pool();
        pool.as(A).put("k", 20);
        pool.as(B).put("k", 300);
        ModelMaster next = pool.master();
        pool.standBy();
        pool.lead(next, 2).talkTo(next);
        assertThat(pool.as(A).find("k").payloadLength()).isEqualTo(20);
        assertThat(pool.as(B).find("k").payloadLength()).isEqualTo(300);
        assertThat(pool.as(Tenant.DEFAULT).exists("k")).isEqualTo(Status.NOT_FOUND);
        assertThat(next.core().keys(A, 10)).containsExactly("k");
        assertThat(next.core().keys(Tenant.DEFAULT, 10)).isEmpty();
    }

    @Test
    void whatEachHasAndReadsIsCounted() {
        Scenario pool =
                new Scenario().withNodes(1 << 20, "n", "m").withReplicas(2).leading(1);
        pool.put("k", 1000);
        pool.as(A).put("k", 1000);
        pool.put("other", 1000);
        pool.as(B).put("k", 1000);
        pool.lookup("k", "missing", "absent");
        pool.remove("k", true);
        pool.world.run(100);

        long extent = ExtentSize.of(A.qualify(Key.of("k")).length(), 1000);
        assertThat(pool.talkedTo().core().status().tenants())
                .containsExactly(new TenantStatus("a", 2, 4 * extent, 0, 0), new TenantStatus("b", 0, 0, 1, 2));
    }

    @Test
    void memoryOfAnEngineHoldsItsTenantsObjectsOnly() {
        Scenario pool = new Scenario().withNodes(1 << 20);
        pool.transientNode("engine", 1 << 20).ofTenant(A);
        pool.leading(1);
        pool.world.run(2_000);
        assertThat(pool.as(B).grant("k", 1).grants().getFirst().status()).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.as(Tenant.DEFAULT).grant("k", 1).grants().getFirst().status())
                .isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.as(A).put("k", 1)).isEqualTo(Status.OK);
    }

    @Test
    void memoryOfAnEngineIsToldNoRemovalsOfOthers() {
        Scenario pool = new Scenario().withNodes(1 << 20, "n", "m").withReplicas(2);
        ModelNode engine = pool.transientNode("engine", 1 << 20).ofTenant(A);
        pool.leading(1);
        pool.world.run(2_000);
        pool.as(B).put("k", 1);
        pool.crash("m");
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.world.run(2_000);
        assertThat(pool.node("n").tombstones()).hasSize(1);
        assertThat(engine.tombstones()).isEmpty();
    }

    /** The leader told another tenant's engine of it, since no other node was there, and set that apart for what it had told it. */
    @Test
    void norOfWhatMayComeOfOthersWhoseEngineHasGone() {
        Scenario pool = new Scenario().leading(1);
        ModelNode engine = pool.transientNode("engine-1", 1 << 20).ofTenant(A);
        pool.transientNode("engine-2", 1 << 20).ofTenant(B).dial(pool.talkedTo());
        engine.dial(pool.talkedTo());
        pool.world.run(11_000);
        assertThat(pool.as(B).grant("k", 1, 1_000).grants().getFirst().status()).isEqualTo(Status.OK);
        pool.leave("engine-2");
        pool.transientNode("engine-3", 1 << 20).ofTenant(B).dial(pool.talkedTo());
        pool.world.run(8_000);

        assertThat(pool.put("k", 1)).isEqualTo(Status.OK);
        pool.world.run(1_000);
        assertThat(engine.tombstones()).isEmpty();
        assertThat(pool.talkedTo().reports().toString()).doesNotContain("set apart");
    }

    @Test
    void anEngineThatShowsAnothersObjectIsSetApart() {
        Scenario pool = new Scenario().withNodes(1 << 20, "n");
        ModelNode engine = pool.transientNode("engine", 1 << 20).ofTenant(A);
        pool.leading(1);
        pool.world.run(2_000);
        GrantReply grant = pool.as(B).grant("k", 1);
        engine.write(
                grant.authority(), grant.grants().getFirst().objectId(), B.qualify(Key.of("k")), 1, 0, Retention.NONE);
        pool.world.run(0);
        assertThat(pool.talkedTo().reports().toString())
                .contains("a record of another tenant than the one whose engine lends");
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }
}
