// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What was replaced while its node was away is not read again when what replaced it has been evicted. */
class PredecessorsTest {
    private static final long MIB = 1 << 20;
    private static final long OLD = 100;
    private static final long NEW = 200;

    /** "k" on node "c", which goes away; then "k" anew on the others. */
    private static Scenario replaced(int nodes) {
        List<String> ids = List.of("a", "b", "c").subList(3 - nodes, 3);
        Scenario pool =
                new Scenario().withNodes(MIB, ids.toArray(String[]::new)).leading(7);
        ids.stream().filter(id -> !id.equals("c")).forEach(pool::crash);
        assertThat(pool.put("k", OLD)).isEqualTo(Status.OK);
        pool.crash("c");
        ids.stream().filter(id -> !id.equals("c")).forEach(pool::restart);
        assertThat(pool.upsert("k", NEW)).isEqualTo(Status.OK);
        return pool;
    }

    /** Puts until "k" has been evicted. */
    private static void evict(Scenario pool) {
        for (int i = 0; isThere(pool); i++) {
            assertThat(i).as("puts until it is evicted").isLessThan(200);
            pool.put("other-" + i, 50_000);
            pool.world.run(20);
        }
        pool.world.run(1_000);
    }

    private static boolean isThere(Scenario pool) {
        return !pool.talkedTo().core().holders(Key.of("k")).isEmpty();
    }

    private static long tombstones(Scenario pool) {
        return pool.talkedTo().status().tombstones();
    }

    private static long unmarked(Scenario pool) {
        return pool.talkedTo().status().counters().get(Count.EVICTED_UNMARKED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theNextLeaderDoesNotShowIt(boolean warm) {
        Scenario pool = replaced(3);
        ModelMaster standby = warm ? pool.master() : null;
        evict(pool);
        assertThat(tombstones(pool)).isEqualTo(1);

        pool.talkedTo().crash();
        ModelMaster next = warm ? standby : pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.restart("c");
        pool.world.run(100);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.world.run(60_000);
        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(tombstones(pool)).isZero();
    }

    @Test
    void itIsGoneWhenItsNodeIsBackUnderTheSameLeader() {
        Scenario pool = replaced(3);
        evict(pool);

        pool.restart("c");
        pool.world.run(1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("c").directory()).isEmpty();
        assertThat(tombstones(pool)).isZero();
    }

    @Test
    void whatWasPutWhileANodeWasAwayThatTheLeaderHasNeverHeardIsMarked() {
        Scenario pool = replaced(3);
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS + Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        pool.talkTo(next);

        evict(pool);

        assertThat(tombstones(pool)).isPositive();
        assertThat(unmarked(pool)).isZero();
    }

    /** It knew the node as a standby, but what was written there last may not have been told to it. */
    @Test
    void whatANodeHoldsThatIsGoneSinceBeforeTheTakeoverIsMarkedToo() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        ModelMaster standby = pool.master();
        pool.world.run(100);
        pool.crash("c");
        pool.talkedTo().crash();
        pool.lead(standby, 8).talkTo(standby);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(standby);
        assertThat(pool.put("k", NEW)).isEqualTo(Status.OK);

        evict(pool);

        assertThat(tombstones(pool)).isPositive();
        assertThat(unmarked(pool)).isZero();
    }

    /** Seed 680: what a node missed from one moment on was written down anew from a later one, when another was away too. */
    @Test
    void whatWasPutBeforeAnotherNodeWentAwayIsMarkedToo() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c", "d").leading(7);
        List.of("a", "b", "d").forEach(pool::crash);
        assertThat(pool.put("k", OLD)).isEqualTo(Status.OK);
        pool.crash("c");
        List.of("a", "b", "d").forEach(pool::restart);
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next);
        assertThat(pool.put("k", NEW)).isEqualTo(Status.OK);
        pool.crash("d");
        assertThat(pool.put("x", 100)).isEqualTo(Status.OK);
        assertThat(pool.remove("x", true)).isEqualTo(Status.OK);
        assertThat(pool.world.register().behind()).containsExactly("c", "d");
        pool.pass(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        evict(pool);

        pool.restart("c");
        pool.world.run(1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("c").directory()).isEmpty();
    }

    /** Seed 13458: a leader that raised its epoch wrote down anew, from then on, what it had written down before. */
    @Test
    void whatWasPutBeforeTheLeaderRaisedItsEpochIsMarkedToo() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        List.of("a", "b").forEach(pool::crash);
        assertThat(pool.put("k", OLD)).isEqualTo(Status.OK);
        pool.crash("c");
        List.of("a", "b").forEach(pool::restart);
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next);
        assertThat(pool.put("k", NEW)).isEqualTo(Status.OK);
        next.lead(new Authority(9, Scenario.authority(8).nonce()), 1L << 40);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next);
        assertThat(pool.put("other", 100)).isEqualTo(Status.OK);
        pool.pass(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        evict(pool);

        pool.restart("c");
        pool.world.run(1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("c").directory()).isEmpty();
    }

    @Test
    void whatTheNodeShowsAndCannotFinishShowingIsDecidedAtOnce() {
        Scenario pool = replaced(3);
        pool.talkedTo().crash();
        ModelMaster next = pool.master();
        pool.lead(next, 8).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next);
        pool.node("c").mute(true);
        pool.restart("c");
        assertThat(pool.node("c").directory()).hasSize(1);
        pool.crash("c");
        pool.node("c").mute(false);
        pool.pass(Scenario.LEASE_DURATION_MS + Scenario.OBJECT_LEASE_MS);
        evict(pool);

        pool.restart("c");
        pool.world.run(1_000);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.node("c").directory()).isEmpty();
    }

    /** It is written down when it is replaced, so that its eviction needs nothing. */
    @Test
    void aPutThatReplacesWhatLiesOnANodeAwayIsAcknowledgedWhenThatIsWrittenDown() {
        Scenario pool = replaced(3);
        assertThat(tombstones(pool)).isEqualTo(1);
        assertThat(pool.world.register().behind()).containsExactly("c");

        pool.world.cutLease(true);
        pool.crash("b");
        GrantReply grant = pool.grant("k", 100, 30_000, true);
        long request = pool.publish(grant.grants().getFirst().objectId(), "k", pool.write(grant, "k", 100));
        assertThat(pool.isAnswered(request)).as("b is not behind yet").isFalse();
        pool.world.cutLease(false);
        pool.world.run(10);
        assertThat(pool.published(request)).isEqualTo(Status.OK);
        assertThat(pool.world.register().behind()).containsExactly("b", "c");
    }

    @Test
    void whatNothingOlderLiesBehindGoesWithoutATombstone() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b", "c").leading(7);
        pool.crash("c");
        assertThat(pool.put("k", NEW)).isEqualTo(Status.OK);

        evict(pool);

        assertThat(tombstones(pool)).isZero();
        assertThat(unmarked(pool)).isZero();
    }

    @Test
    void ofTwoNodesOneIsEnough() {
        Scenario pool = replaced(2);

        evict(pool);

        assertThat(tombstones(pool)).isEqualTo(1);
        assertThat(unmarked(pool)).isZero();
        pool.restart("c");
        pool.world.run(1_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }

    /** The older one is kept out of sight, since the newer one, on a node away, may have been the left-over of a put. */
    @Test
    void aTenantAtItsCeilingEvictsWhatHasAnOlderOneBesideIt() {
        Tenant tenant = Tenant.of("t");
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7).as(tenant);
        pool.crash("b");
        assertThat(pool.put("k", OLD)).isEqualTo(Status.OK);
        pool.restart("b");
        ModelMaster next = pool.master();
        pool.standBy();
        pool.node("b").write(Scenario.authority(7), new ObjectId(7, 999), tenant.qualify(Key.of("k")), NEW, 1);
        pool.world.run(0);
        pool.crash("b");
        pool.lead(next, 8).talkTo(next);
        pool.world.run(2 * Scenario.OBJECT_LEASE_MS);
        next.goBy(new CacheRules(
                Scenario.OBJECT_LEASE_MS,
                EvictionRules.between(0.50, 0.90),
                1,
                Scenario.REPAIR_DELAY_MS,
                Scenario.REPAIR_BYTES_PER_SECOND,
                Consistency.STRICT,
                new Quotas(new TreeMap<>(Map.of(tenant.name(), new Quota(0, Quota.UNLIMITED, 1))))));
        pool.as(tenant);

        Status last = pool.put("new", 100);
        for (int i = 0; i < 50 && last != Status.OK; i++) {
            pool.pass(200);
            last = pool.put("new", 100);
        }

        assertThat(last).isEqualTo(Status.OK);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        pool.restart("b");
        pool.world.run(1_000);
        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
    }
}
