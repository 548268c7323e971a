// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.NativeNode;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What the puts of one tenant cost another. Objects take {@link #EXTENT} bytes; nodes have room for 40 of them, and evict above 36 down to 30. */
class QuotaFairnessTest {
    private static final Tenant A = Tenant.of("a");
    private static final Tenant B = Tenant.of("b");
    private static final Tenant C = Tenant.of("c");
    private static final long EXTENT = 1088;
    private static final long NONE = Quota.UNLIMITED;

    private static Scenario pool(Map<String, Long> guaranteedObjects, String... nodes) {
        Scenario pool = new Scenario().withNodes(40 * EXTENT, nodes).leading(1);
        pool.talkedTo().goBy(rules(guaranteedObjects));
        return pool;
    }

    private static CacheRules rules(Map<String, Long> guaranteedObjects) {
        Map<String, Quota> quotas = new TreeMap<>();
        guaranteedObjects.forEach((name, objects) -> quotas.put(name, new Quota(objects * EXTENT, NONE, NONE)));
        return new CacheRules(
                Scenario.OBJECT_LEASE_MS,
                EvictionRules.between(0.75, 0.90),
                1,
                Scenario.REPAIR_DELAY_MS,
                Scenario.REPAIR_BYTES_PER_SECOND,
                Consistency.STRICT,
                new Quotas(quotas));
    }

    private static int kept(Scenario pool, Tenant tenant) {
        return pool.talkedTo().core().keys(tenant, 1_000).size();
    }

    private static void flood(Scenario pool, String prefix, int objects) {
        for (int i = 0; i < objects; i++) {
            while (pool.put(prefix + i, 1000) != Status.OK) {
                pool.world.run(10);
            }
            pool.world.run(1);
        }
    }

    @Test
    void aFloodCostsATenantBelowItsGuaranteeNothing() {
        Scenario pool = pool(Map.of("a", 20L), "n", "m");
        pool.as(A).fill("a", 19);
        flood(pool.as(B), "b", 500);
        flood(pool.as(Tenant.DEFAULT), "d", 500);
        assertThat(kept(pool, A)).isEqualTo(19);
        assertThat(kept(pool, B) + kept(pool, Tenant.DEFAULT)).isGreaterThan(30);
    }

    @Test
    void withoutAGuaranteeTheFloodTakesAll() {
        Scenario pool = pool(Map.of(), "n", "m");
        pool.as(A).fill("a", 19);
        flood(pool.as(B), "b", 500);
        assertThat(kept(pool, A)).isZero();
    }

    @Test
    void aTenantAboveItsGuaranteeLosesWhatIsAboveIt() {
        Scenario pool = pool(Map.of("a", 10L), "n", "m");
        pool.as(A).fill("a", 50);
        flood(pool.as(B), "b", 500);
        assertThat(kept(pool, A)).isBetween(10, 35);
        assertThat(pool.as(A).exists("a0")).as("the coldest went").isEqualTo(Status.NOT_FOUND);
        assertThat(pool.exists("a49")).isEqualTo(Status.OK);
    }

    /** B has 45 more than its guarantee, C 5: though C's are colder, B loses. */
    @Test
    void theOneFurthestAboveItsGuaranteeLosesFirst() {
        Scenario pool = pool(Map.of("a", 1L), "n", "m");
        pool.as(C).fill("c", 5);
        pool.as(B).fill("b", 45);
        flood(pool.as(B), "more", 40);
        assertThat(kept(pool, C)).isEqualTo(5);
        assertThat(kept(pool, B)).isGreaterThan(45);
    }

    @Test
    void whatIsPinnedOfTheFurthestIsPassedOver() {
        Scenario pool = pool(Map.of("a", 20L), "n", "m");
        pool.as(A).fill("a", 10);
        pool.as(B).keeping(Retention.of(false, true, 0, 0)).fill("pinned", 15);
        pool.as(C).keeping(Retention.NONE);
        flood(pool, "c", 200);
        assertThat(kept(pool, A)).isEqualTo(10);
        assertThat(kept(pool, B)).isEqualTo(15);
        assertThat(kept(pool, C)).isPositive();
    }

    private static final Retention HARD_PIN = Retention.of(false, true, 0, 0);

    /** How many objects are put until one is refused, also after a while. */
    private static int putUntil(Status refusal, Scenario pool, String prefix) {
        for (int i = 0; i < 100; i++) {
            Status status = pool.put(prefix + i, 1000);
            for (int tries = 0; status == Status.NO_SPACE && tries < 100; tries++) {
                pool.world.run(100);
                status = pool.put(prefix + i, 1000);
            }
            if (status != Status.OK) {
                assertThat(status).isEqualTo(refusal);
                return i;
            }
        }
        return 100;
    }

    /** Of what is guaranteed to no tenant, 40 objects, those without a guarantee pin the half at most. */
    @Test
    void whatOthersPinLeavesATenantItsGuarantee() {
        Scenario pool = pool(Map.of("a", 20L), "n", "m");
        pool.as(B).keeping(HARD_PIN);
        assertThat(putUntil(Status.QUOTA_EXCEEDED, pool, "b")).isEqualTo(20);
        assertThat(pool.as(C).put("c", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
        assertThat(pool.keeping(Retention.NONE).put("c", 1000)).isEqualTo(Status.OK);
        flood(pool.as(A), "a", 20);
        flood(pool.as(C), "more", 100);
        assertThat(kept(pool, A)).isEqualTo(20);
    }

    @Test
    void aTenantPinsUpToItsGuaranteeAlsoUnderTheNextLeader() {
        Scenario pool = pool(Map.of("a", 20L, "b", 10L), "n", "m");
        pool.as(B).keeping(HARD_PIN);
        assertThat(putUntil(Status.QUOTA_EXCEEDED, pool, "b")).isEqualTo(10);
        ModelMaster next = pool.master();
        next.goBy(rules(Map.of("a", 20L, "b", 10L)));
        pool.standBy();
        pool.lead(next, 2).talkTo(next).as(B).pass(20_000);
        assertThat(pool.put("more", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
        assertThat(pool.remove("b0", true)).isEqualTo(Status.OK);
        assertThat(putUntil(Status.QUOTA_EXCEEDED, pool, "again")).isEqualTo(1);
    }

    /** What a put replaces is there beside it until it is published, and counts once with it. */
    @Test
    void whatIsPinnedMayBeReplacedAtTheLimit() {
        Scenario pool = pool(Map.of("a", 20L, "b", 10L), "n", "m");
        pool.as(B).keeping(HARD_PIN);
        assertThat(putUntil(Status.QUOTA_EXCEEDED, pool, "b")).isEqualTo(10);
        List<GrantReply> grants = grantsToReplace(pool, "b", 10);
        assertThat(pool.put("more", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
        for (int i = 0; i < 10; i++) {
            List<Long> written = pool.write(grants.get(i), "b" + i, 1000);
            ObjectId id = grants.get(i).grants().getFirst().objectId();
            assertThat(pool.published(pool.publish(id, "b" + i, written))).isEqualTo(Status.OK);
        }
        assertThat(pool.put("more", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
        assertThat(pool.upsert("b0", 2000)).as("twice as large").isEqualTo(Status.QUOTA_EXCEEDED);
        assertThat(pool.remove("b0", true)).isEqualTo(Status.OK);
        assertThat(pool.upsert("b1", 2000)).isEqualTo(Status.OK);
        assertThat(pool.put("more", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
    }

    private static List<GrantReply> grantsToReplace(Scenario pool, String prefix, int objects) {
        List<GrantReply> grants = new ArrayList<>();
        for (int i = 0; i < objects; i++) {
            GrantReply reply = pool.grant(prefix + i, 1000, 30_000, true);
            assertThat(reply.grants().getFirst().status()).isEqualTo(Status.OK);
            grants.add(reply);
        }
        return grants;
    }

    @Test
    void whatIsBeingReplacedLeavesRoomForMorePins() {
        Scenario pool = pool(Map.of("a", 20L, "b", 10L), "n", "m");
        pool.as(B).keeping(HARD_PIN).fill("b", 6);
        grantsToReplace(pool, "b", 6);
        assertThat(putUntil(Status.QUOTA_EXCEEDED, pool, "more")).isEqualTo(4);
    }

    @Test
    void whatWasToBeReplacedInVainCountsAsBefore() {
        Scenario pool = pool(Map.of("a", 20L, "b", 10L), "n", "m");
        pool.as(B).keeping(HARD_PIN).fill("b", 10);
        for (GrantReply reply : grantsToReplace(pool, "b", 10)) {
            ObjectId id = reply.grants().getFirst().objectId();
            pool.publish(id, "b", List.of(), PutOutcome.FAILED);
        }
        pool.disconnect();
        pool.as(B).pass(40_000);
        assertThat(pool.put("more", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
    }

    /** Else a tenant whose pinned objects are lost meanwhile would have them twice in the end. */
    @Test
    void whatIsLostBeforeItIsReplacedMakesNoRoomForMorePins() {
        Scenario pool = pool(Map.of("a", 20L, "b", 10L), "n", "m");
        pool.as(B).keeping(HARD_PIN).fill("b", 10);
        grantsToReplace(pool, "b", 10);
        pool.crash("n");
        pool.node("n").wipe();
        pool.restart("n");
        pool.world.run(100);
        assertThat(kept(pool, B)).as("some are lost").isLessThan(10);
        assertThat(pool.put("more", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
    }

    /** Nor does the pin of a put count whose client went away. */
    @Test
    void aPutThatIsOverDoesNotPin() {
        Scenario pool = pool(Map.of("a", 20L, "b", 1L), "n", "m");
        pool.as(B).keeping(HARD_PIN);
        assertThat(pool.grant("b", 1000).grants().getFirst().status()).isEqualTo(Status.OK);
        pool.disconnect();
        assertThat(pool.as(B).put("b", 1000)).isEqualTo(Status.OK);
    }

    /** Of 60 objects 40 are guaranteed, and B pins up to 10 of the rest. With one node there are 30, all of them guaranteed. */
    @Test
    void whileANodeIsAwayATenantHearsThatThePoolHasNoSpaceUntilItHasPinnedWhatItMay() {
        Scenario pool = pool(Map.of("a", 40L), "n", "m");
        pool.as(B).keeping(HARD_PIN).fill("b", 9);
        pool.as(A).fill("a", 35);
        pool.crash("m");
        assertThat(pool.put("more", 1000)).isEqualTo(Status.NO_SPACE);
        assertThat(pool.as(B).put("more", 1000)).isEqualTo(Status.NO_SPACE);
        pool.restart("m");
        pool.world.run(100);
        assertThat(pool.put("more", 1000)).isEqualTo(Status.OK);
        assertThat(putUntil(Status.QUOTA_EXCEEDED, pool.as(A), "again")).isEqualTo(5);
        pool.crash("m");
        assertThat(pool.put("last", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
        assertThat(pool.as(B).put("last", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
    }

    /** Without storage nodes it pins in memory of its own engine, not more than it may when they are back and keep copies. */
    @Test
    void whileNoStorageNodeIsThereATenantPinsNoMoreThanItMay() {
        Scenario pool = pool(Map.of("a", 20L), "n");
        pool.transientNode("engine", 40 * EXTENT).ofTenant(B).dial(pool.talkedTo());
        pool.world.run(1_000);
        pool.as(B).keeping(HARD_PIN).fill("b", 3);
        pool.crash("n");
        assertThat(putUntil(Status.QUOTA_EXCEEDED, pool, "more")).isEqualTo(2);
    }

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** What a request for as many keys as one may have allocates. */
    private static long allocated(Scenario pool, String prefix, Retention retention) {
        List<GrantKey> keys = new ArrayList<>();
        for (int i = 0; i < ClientRequest.KEYS_MAX; i++) {
            keys.add(new GrantKey(Key.of(prefix + i), 1000, retention, false));
        }
        GrantRequest request = new GrantRequest(pool.nextRequest(), 1, 30_000, false, keys, "");
        long before = THREADS.getCurrentThreadAllocatedBytes();
        pool.send(request);
        long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
        assertThat(pool.reply(request.requestId(), GrantReply.class).grants())
                .allSatisfy(line -> assertThat(line.status()).isEqualTo(Status.OK));
        return allocated;
    }

    /** What is guaranteed is the same for each key of a request, and with many tenants finding it out takes more than all else. */
    @Test
    void pinsOfManyKeysCostAboutWhatKeysDo() {
        Map<String, Long> guaranteed = new TreeMap<>();
        for (int i = 0; i < 200; i++) {
            guaranteed.put("t" + i, 1L);
        }
        Scenario pool = new Scenario().withNodes(100L << 20, "n", "m", "o", "p").leading(1);
        pool.talkedTo().goBy(rules(guaranteed));
        pool.as(B);
        long unpinned = allocated(pool, "k", Retention.NONE);
        assertThat(allocated(pool, "pinned", HARD_PIN)).isLessThan(2 * unpinned);
    }

    @Test
    void whereNothingIsGuaranteedAllMayPin() {
        Scenario pool = pool(Map.of(), "n");
        pool.as(B).keeping(HARD_PIN);
        assertThat(putUntil(Status.NO_SPACE, pool, "b")).isGreaterThan(30);
    }

    /** Memory that an engine of B says to lend: with it more would be guaranteed than the storage nodes hold, and nothing could go. */
    @Test
    void whatAnEngineLendsIsNotGuaranteedToOthers() {
        Scenario pool = pool(Map.of("a", 100L, "b", 100L), "n");
        pool.transientNode("engine", NativeNode.SEGMENT_BYTES_MAX).ofTenant(B).dial(pool.talkedTo());
        pool.world.run(1_000);
        pool.as(A);
        for (int i = 0; i < 100; i++) {
            pool.put("a" + i, 1000);
            pool.world.run(100);
        }
        pool.pass(20_000);
        assertThat(pool.put("last", 1000)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).isGreaterThan(20);
    }

    @Test
    void aTenantBelowItsGuaranteeGetsThereByOthersObjects() {
        Scenario pool = pool(Map.of("a", 20L), "n");
        flood(pool.as(B), "b", 100);
        flood(pool.as(A), "a", 20);
        assertThat(kept(pool, A)).isEqualTo(20);
        flood(pool.as(A), "again", 100);
        assertThat(kept(pool, A)).as("and beyond by its own and others'").isGreaterThanOrEqualTo(20);
    }

    /** More is guaranteed than there is: the pool still takes puts. */
    @Test
    void guaranteesBeyondCapacityDoNotStopThePool() {
        Scenario pool = pool(Map.of("a", 100L, "b", 100L), "n");
        flood(pool.as(A), "a", 100);
        flood(pool.as(B), "b", 100);
        assertThat(kept(pool, A)).isBetween(10, 20);
        flood(pool.as(A), "more", 100);
        assertThat(kept(pool, B)).isBetween(10, 20);
    }

    @Test
    void theNextLeaderKeepsGuarantees() {
        Scenario pool = pool(Map.of("a", 20L), "n", "m");
        pool.as(A).fill("a", 19);
        ModelMaster next = pool.master();
        next.goBy(rules(Map.of("a", 20L)));
        pool.standBy();
        pool.lead(next, 2).talkTo(next).pass(20_000);
        flood(pool.as(B), "b", 500);
        assertThat(kept(pool, A)).isEqualTo(19);
    }

    /** What has to leave memory moves to the SSD there, and is no loss; what leaves that is. */
    @Test
    void anSsdKeepsWhatIsGuaranteed() {
        Scenario pool =
                new Scenario().withNodes(40 * EXTENT, "n").withSsd(60 * 4096).leading(1);
        pool.talkedTo().goBy(rules(Map.of("a", 20L)));
        pool.as(A).fill("a", 19);
        flood(pool.as(B), "b", 500);
        pool.world.run(5_000);
        assertThat(kept(pool, A)).isEqualTo(19);
    }
}
