// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.report.QuotaStatus;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.QuotaOutcomes.Costs;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.master.core.tenant.TenantAccounts.Balance;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.Hint;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a tenant may have. Objects take {@link #EXTENT} bytes; tenant a may have five. */
class QuotaTest {
    private static final Tenant A = Tenant.of("a");
    private static final Tenant B = Tenant.of("b");
    private static final long EXTENT = 1088;
    private static final long NONE = Quota.UNLIMITED;
    private static final Retention HARD = Retention.of(false, true, 0, 0);
    private static final Retention SOFT = Retention.of(true, false, 0, 0);
    private static final Quotas FIVE = new Quotas(Map.of("a", new Quota(0, 5 * EXTENT, NONE)));

    private static CacheRules rules(Quotas quotas, int replicas) {
        return new CacheRules(
                Scenario.OBJECT_LEASE_MS,
                EvictionRules.between(0.50, 0.90),
                replicas,
                Scenario.REPAIR_DELAY_MS,
                Scenario.REPAIR_BYTES_PER_SECOND,
                Consistency.STRICT,
                quotas);
    }

    private static Scenario pool(Quotas quotas) {
        Scenario pool = new Scenario().withNodes(1 << 20, "n", "m").leading(1);
        pool.talkedTo().goBy(rules(quotas, 1));
        return pool.as(A);
    }

    private static QuotaStatus of(Scenario pool, String tenant) {
        return pool.talkedTo().core().status().quotas().stream()
                .filter(status -> status.tenant().equals(tenant))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> kept(Scenario pool, Tenant tenant) {
        return pool.talkedTo().core().keys(tenant, 100).stream().sorted().toList();
    }

    private static Status granted(Scenario pool, String key, long bytes) {
        return pool.grant(key, bytes).grants().getFirst().status();
    }

    @Test
    void atItsCeilingATenantEvictsItsOwnLeastRecentlyUsed() {
        Scenario pool = pool(FIVE);
        pool.as(B).fill("b", 8);
        pool.as(Tenant.DEFAULT).fill("d", 8);
        pool.as(A).fill("a", 5);
        pool.world.run(1_000);
        pool.find("a0");
        pool.world.run(Scenario.OBJECT_LEASE_MS);

        assertThat(pool.put("a5", 1000)).isEqualTo(Status.OK);
        assertThat(pool.put("a6", 1000)).isEqualTo(Status.OK);

        assertThat(kept(pool, A)).containsExactly("a0", "a3", "a4", "a5", "a6");
        assertThat(kept(pool, B)).hasSize(8);
        assertThat(kept(pool, Tenant.DEFAULT)).hasSize(8);
        assertThat(of(pool, "a").used()).isEqualTo(new Balance(5, 5 * EXTENT, 0, 0));
        assertThat(of(pool, "a").costs()).isEqualTo(new Costs(0, 2, 2 * EXTENT));
    }

    @Test
    void theDefaultTenantMayHaveACeilingToo() {
        Scenario pool = pool(new Quotas(Map.of("default", new Quota(0, 3 * EXTENT, NONE))));
        pool.as(A).fill("a", 8);
        pool.as(Tenant.DEFAULT).fill("d", 5);
        assertThat(kept(pool, A)).hasSize(8);
        assertThat(kept(pool, Tenant.DEFAULT)).containsExactly("d2", "d3", "d4");
        pool.talkTo(pool.talkedTo()).fill("plain", 1);
        assertThat(kept(pool, Tenant.DEFAULT)).as("plain peers are of it").containsExactly("d3", "d4", "plain0");
    }

    @Test
    void aCeilingOfObjectsCountsObjects() {
        Scenario pool = pool(new Quotas(Map.of("a", new Quota(0, NONE, 2))));
        pool.put("large", 100_000);
        pool.put("small", 1);
        assertThat(pool.put("third", 1)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).containsExactly("small", "third");
    }

    @Test
    void aValueAboveTheCeilingIsRefusedAndCostsNothing() {
        Scenario pool = pool(FIVE);
        pool.fill("a", 5);
        assertThat(pool.put("large", 6_000)).isEqualTo(Status.QUOTA_EXCEEDED);
        assertThat(kept(pool, A)).hasSize(5);
        assertThat(of(pool, "a").costs()).isEqualTo(new Costs(1, 0, 0));
        assertThat(pool.as(B).put("large", 6_000)).as("of another tenant").isEqualTo(Status.OK);
    }

    @Test
    void whatIsLeasedPinnedOrRetainedIsNotEvictedForTheTenantsOwnPuts() {
        Scenario pool = pool(FIVE);
        pool.fill("leased", 2);
        pool.lookup("leased0", "leased1");
        pool.keeping(HARD).fill("pinned", 2);
        pool.keeping(Retention.NONE).fill("retained", 1);
        assertThat(pool.hint(Hint.RETAIN, 60_000, false, "retained0").status()).isEqualTo(Status.OK);

        assertThat(pool.put("more", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
        assertThat(kept(pool, A)).hasSize(5);

        pool.pass(Scenario.OBJECT_LEASE_MS);
        assertThat(pool.put("more", 1000)).as("when leases are over").isEqualTo(Status.OK);
        assertThat(kept(pool, A)).contains("pinned0", "pinned1", "retained0", "more");
    }

    @Test
    void softPinsGiveWayWhenNothingElseDoes() {
        Scenario pool = pool(FIVE);
        pool.keeping(SOFT).fill("soft", 4);
        pool.keeping(Retention.NONE).fill("plain", 1);
        assertThat(pool.put("x", 1000)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).containsExactly("soft0", "soft1", "soft2", "soft3", "x");
        pool.keeping(SOFT);
        assertThat(pool.put("y", 1000)).isEqualTo(Status.OK);
        assertThat(pool.put("z", 1000)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).containsExactly("soft1", "soft2", "soft3", "y", "z");
    }

    @Test
    void grantsCountUntilTheyEnd() {
        Scenario pool = pool(FIVE);
        for (int i = 0; i < 5; i++) {
            assertThat(granted(pool, "k" + i, 1000)).isEqualTo(Status.OK);
        }
        assertThat(granted(pool, "k5", 1000)).as("until one has ended").isEqualTo(Status.NO_SPACE);
        assertThat(granted(pool, "k5", 6_000)).as("more than the ceiling").isEqualTo(Status.QUOTA_EXCEEDED);
        assertThat(of(pool, "a").used()).isEqualTo(new Balance(0, 0, 5, 5 * EXTENT));
        assertThat(granted(pool, "k0", 1000)).as("still being put").isEqualTo(Status.BUSY);

        pool.pass(36_000);
        assertThat(of(pool, "a").used()).as("all have expired").isEqualTo(Balance.NOTHING);
        assertThat(pool.put("k5", 1000)).isEqualTo(Status.OK);
    }

    @Test
    void aGrantThatIsTakenBackIsRefunded() {
        Scenario pool = pool(FIVE);
        GrantReply reply = pool.grant("k", 5_000);
        assertThat(granted(pool, "other", 1000)).isEqualTo(Status.NO_SPACE);
        pool.published(pool.publish(reply.grants().getFirst().objectId(), "k", List.of()));
        assertThat(of(pool, "a").used()).isEqualTo(Balance.NOTHING);
        assertThat(granted(pool, "other", 1000)).isEqualTo(Status.OK);
    }

    @Test
    void aGrantThatOutlivedItsDeadlineMakesRoomForTheSameKey() {
        Scenario pool = pool(FIVE);
        assertThat(pool.grant("k", 4_000, 100).grants().getFirst().status()).isEqualTo(Status.OK);
        pool.world.run(200);
        assertThat(granted(pool, "k", 4_000)).isEqualTo(Status.OK);
        assertThat(of(pool, "a").used().grantedObjects()).isEqualTo(1);
    }

    @Test
    void eachCopyCounts() {
        Scenario pool =
                new Scenario().withNodes(1 << 20, "n", "m").withReplicas(2).leading(1);
        pool.talkedTo().goBy(rules(FIVE, 2));
        pool.as(A).fill("a", 3);
        assertThat(kept(pool, A)).as("of two copies each").containsExactly("a1", "a2");
        assertThat(of(pool, "a").used()).isEqualTo(new Balance(2, 4 * EXTENT, 0, 0));
        pool.crash("m");
        assertThat(of(pool, "a").used().bytes())
                .as("a copy that is away for a while")
                .isEqualTo(4 * EXTENT);
        pool.withReplicasOfPuts(1).fill("one", 1);
        assertThat(kept(pool, A)).containsExactly("a1", "a2", "one0");
    }

    @Test
    void anUpsertNeedsRoomForBoth() {
        Scenario pool = pool(FIVE);
        pool.fill("a", 5);
        assertThat(pool.upsert("a4", 1000)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).containsExactly("a1", "a2", "a3", "a4");
        assertThat(of(pool, "a").used()).isEqualTo(new Balance(4, 4 * EXTENT, 0, 0));
    }

    @Test
    void removalsAreRefundedAtOnce() {
        Scenario pool = pool(FIVE);
        pool.fill("a", 5);
        pool.lookup("a0", "a1", "a2", "a3", "a4");
        assertThat(pool.put("more", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);
        assertThat(pool.remove("a3", true)).isEqualTo(Status.OK);
        assertThat(pool.put("more", 1000)).isEqualTo(Status.OK);
        pool.removeAll(true);
        assertThat(of(pool, "a").used()).isEqualTo(Balance.NOTHING);
    }

    @Test
    void theNextLeaderKnowsWhatATenantHas() {
        Scenario pool = pool(FIVE);
        pool.fill("a", 4);
        granted(pool, "never written", 1000);
        ModelMaster next = pool.master();
        next.goBy(rules(FIVE, 1));
        pool.standBy();
        pool.lead(next, 2).talkTo(next).as(A);
        assertThat(of(pool, "a").used()).isEqualTo(new Balance(4, 4 * EXTENT, 0, 0));
        assertThat(pool.put("a4", 1000)).isEqualTo(Status.OK);
        assertThat(pool.put("a5", 1000)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).as("what was recovered is leased").containsExactly("a0", "a1", "a2", "a3", "a5");
        pool.pass(20_000);
        pool.fill("b", 3);
        assertThat(kept(pool, A)).hasSize(5).contains("b0", "b1", "b2");
    }

    @Test
    void aCeilingThatIsLoweredIsComeDownTo() {
        Scenario pool = pool(FIVE);
        pool.as(B).fill("b", 9);
        pool.as(A).fill("a", 5);
        pool.talkedTo().goBy(rules(new Quotas(Map.of("a", new Quota(0, 2 * EXTENT, NONE))), 1));
        pool.world.run(100);
        assertThat(kept(pool, A)).containsExactly("a3", "a4");
        assertThat(kept(pool, B)).hasSize(9);
        pool.talkedTo().goBy(rules(Quotas.NONE, 1));
        pool.fill("more", 9);
        assertThat(kept(pool, A)).hasSize(11);
    }

    /** A pool of objects of b, more than a turn looks at, which all are passed by before any that is put now. */
    private static Scenario poolOfMany(Quotas quotas) {
        Scenario pool = new Scenario()
                .withNodes(1 << 24, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11")
                .leading(1);
        pool.talkedTo().goBy(rules(quotas, 1));
        pool.as(B);
        for (int i = 0; i < 9_000; i++) {
            pool.put("b" + i, 1);
        }
        return pool;
    }

    /** A tenant that has next to nothing among many objects of others: what is to go is found over several ticks, though the writer asks late. */
    @Test
    void fewObjectsAreFoundAmongMany() {
        Scenario pool = poolOfMany(FIVE);
        pool.as(A).fill("a", 5);
        pool.world.run(20);
        assertThat(pool.put("a5", 1000)).as("not found yet").isEqualTo(Status.NO_SPACE);
        pool.world.run(1_500);
        assertThat(pool.put("a5", 1000)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).containsExactly("a1", "a2", "a3", "a4", "a5");
        assertThat(of(pool, "a").costs().refusals()).isZero();
    }

    /** Each asks but once before it is to be granted: no search ends another's, and none waits for another to end. */
    @Test
    void manyTenantsAreSoughtForAtATime() {
        Map<String, Quota> quotas = new HashMap<>();
        for (int i = 0; i < 24; i++) {
            quotas.put("t" + i, new Quota(0, NONE, 2));
        }
        Scenario pool = poolOfMany(new Quotas(quotas));
        for (String tenant : quotas.keySet()) {
            pool.as(Tenant.of(tenant)).fill("k", 2);
        }
        Map<Status, Integer> ends = new HashMap<>();
        for (String tenant : quotas.keySet()) {
            ends.merge(pool.as(Tenant.of(tenant)).put("more", 1), 1, Integer::sum);
        }
        assertThat(ends).as("of the first round").containsOnlyKeys(Status.NO_SPACE);
        pool.world.run(600);
        for (String tenant : quotas.keySet()) {
            assertThat(pool.as(Tenant.of(tenant)).put("more", 1)).as(tenant).isEqualTo(Status.OK);
            assertThat(kept(pool, Tenant.of(tenant))).containsExactly("k1", "more");
        }
    }

    /** Tenants with nothing that may go cost another one but their parts: those before it in the order of names have more than they may, and go on putting. */
    @Test
    void whoseObjectsMayNotGoKeepsNoOtherFromItsOwn() {
        Map<String, Quota> before = new HashMap<>(Map.of("z", new Quota(0, NONE, 2)));
        Map<String, Quota> after = new HashMap<>(before);
        for (int i = 0; i < 12; i++) {
            after.put("pinned" + i, new Quota(0, NONE, 1));
        }
        Scenario pool = poolOfMany(new Quotas(before));
        pool.as(Tenant.of("z")).fill("k", 2);
        pool.keeping(HARD);
        for (int i = 0; i < 12; i++) {
            pool.as(Tenant.of("pinned" + i)).fill("k", 2);
        }
        pool.keeping(Retention.NONE).talkedTo().goBy(rules(new Quotas(after), 1));
        Status end = Status.NO_SPACE;
        int ticks = 0;
        while (end == Status.NO_SPACE && ticks++ < 40) {
            pool.world.run(10);
            for (int i = 0; i < 12; i++) {
                assertThat(pool.as(Tenant.of("pinned" + i)).put("more", 1)).isNotEqualTo(Status.OK);
            }
            end = pool.as(Tenant.of("z")).put("more", 1);
        }
        assertThat(end).as("after %d ticks", ticks).isEqualTo(Status.OK);
        pool.as(Tenant.of("pinned0"));
        for (ticks = 0; end != Status.QUOTA_EXCEEDED && ticks < 200; ticks++) {
            pool.world.run(10);
            end = pool.put("more", 1);
        }
        assertThat(end).as("once all was looked at").isEqualTo(Status.QUOTA_EXCEEDED);
    }

    /** The next leader takes objects of one copy for such of two, as the pool wants: the tenant comes down to its ceiling by its puts. */
    @Test
    void copiesThatTheNextLeaderWantsCostNothingAtOnce() {
        Scenario pool =
                new Scenario().withNodes(1 << 20, "n", "m").withReplicas(2).leading(1);
        pool.talkedTo().goBy(rules(FIVE, 2));
        pool.as(A).withReplicasOfPuts(1).fill("a", 5);
        ModelMaster next = pool.master();
        next.goBy(rules(FIVE, 2));
        pool.standBy();
        pool.lead(next, 2).talkTo(next).as(A).pass(20_000);
        assertThat(kept(pool, A)).hasSize(5);
        assertThat(of(pool, "a").used().bytes()).isEqualTo(10 * EXTENT);

        assertThat(pool.put("b0", 1000)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).as("one has gone for it").hasSize(5).contains("b0");
        pool.fill("c", 5);
        assertThat(kept(pool, A)).hasSize(5).contains("c0", "c1", "c2", "c3", "c4");
        assertThat(of(pool, "a").used().bytes()).isEqualTo(5 * EXTENT);
    }

    /** The pool wants two copies of each object from now on, so the tenant is far above its ceiling without having put anything. */
    @Test
    void copiesThatThePoolWantsFromNowOnCostNothingAtOnce() {
        Scenario pool = pool(FIVE);
        pool.fill("a", 5);
        pool.talkedTo().goBy(rules(FIVE, 2));
        pool.pass(20_000);
        assertThat(kept(pool, A)).hasSize(5);
        assertThat(of(pool, "a").used().bytes()).isEqualTo(10 * EXTENT);

        assertThat(pool.put("b0", 1000)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).as("two have gone for it").hasSize(4).contains("b0");
        pool.fill("c", 5);
        assertThat(of(pool, "a").used().bytes()).isLessThanOrEqualTo(5 * EXTENT);
    }

    /** A leader that follows while a node is away knows of less than there is; what comes back with it was within the ceiling. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatComesBackWithANodeCostsNothingAtOnce(boolean ofBytes) {
        Quotas quotas = new Quotas(Map.of("a", ofBytes ? new Quota(0, 6 * EXTENT, NONE) : new Quota(0, NONE, 6)));
        Scenario pool = pool(quotas);
        pool.fill("a", 6);
        long away = pool.present("m", A.qualify(Key.of("a")).toString(), 6);
        assertThat(away).isBetween(1L, 5L);
        pool.crash("m");
        ModelMaster next = pool.master();
        next.goBy(rules(quotas, 1));
        pool.talkedTo().crash();
        pool.lead(next, 2).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next).as(A).pass(20_000);
        pool.fill("b", (int) away);
        assertThat(kept(pool, A)).hasSize(6);

        pool.restart("m");
        pool.pass(20_000);
        assertThat(kept(pool, A)).hasSize(6 + (int) away);

        pool.fill("c", 12);
        assertThat(kept(pool, A)).hasSize(6).contains("c11");
    }

    @Test
    void whatIsPinnedBelowALoweredCeilingIsFoundWhenItMayGo() {
        Scenario pool = pool(FIVE);
        pool.keeping(HARD).fill("pinned", 3);
        pool.keeping(Retention.NONE).fill("read", 2);
        pool.find("read0");
        pool.find("read1");
        pool.talkedTo().goBy(rules(new Quotas(Map.of("a", new Quota(0, 2 * EXTENT, NONE))), 1));
        pool.world.run(100);
        assertThat(kept(pool, A)).as("leased, or pinned").hasSize(5);
        assertThat(pool.put("more", 1000)).isEqualTo(Status.QUOTA_EXCEEDED);

        pool.pass(2 * Bounds.QUOTA_UNASKED_REST_MS_MAX);
        assertThat(kept(pool, A)).containsExactly("pinned0", "pinned1", "pinned2");
        pool.remove("pinned0", true);
        pool.remove("pinned1", true);
        assertThat(pool.put("more", 1000))
                .as("searches for puts rest no longer than before")
                .isEqualTo(Status.OK);
    }

    /** Nodes of 1000 bytes have room for no tombstone of an eviction; what one held that this leader has not heard would need one. */
    @Test
    void whatThereIsNoRoomToWriteDownIsEvictedWhenNothingElseMayGo() {
        Scenario pool = new Scenario().withNodes(1_000, "n", "m", "away").leading(1);
        ModelMaster next = pool.master();
        next.goBy(rules(new Quotas(Map.of("a", new Quota(0, NONE, 2))), 1));
        pool.world.run(100);
        pool.crash("away");
        pool.talkedTo().crash();
        pool.lead(next, 2).talkTo(next);
        pool.world.run(Bounds.COLD_WAIT_MS);
        pool.talkTo(next).as(A);
        assertThat(pool.put("k0", 1)).isEqualTo(Status.OK);
        assertThat(pool.put("k1", 1)).isEqualTo(Status.OK);

        assertThat(pool.put("more", 1)).isEqualTo(Status.NO_SPACE);
        pool.world.run(200);
        assertThat(pool.put("more", 1)).isEqualTo(Status.OK);
        assertThat(kept(pool, A)).containsExactly("k1", "more");
        assertThat(pool.talkedTo().status().counters().get(Count.EVICTED_UNMARKED))
                .isEqualTo(1);
    }

    /** Tenants put, read, remove and give up in any order, masters follow each other: never above a ceiling, and nothing is lost in the books. */
    @Test
    void booksAreRightWhateverHappens() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Quotas quotas = new Quotas(Map.of("a", new Quota(0, 9 * EXTENT, NONE), "default", new Quota(0, NONE, 6)));
        Scenario pool = new Scenario().withNodes(1 << 20, "n", "m").leading(1);
        pool.talkedTo().goBy(rules(quotas, 1));
        List<Tenant> tenants = List.of(Tenant.DEFAULT, A, B);
        Map<Status, Integer> ends = new HashMap<>();
        List<Runnable> open = new ArrayList<>();
        long epoch = 1;
        for (int i = 0; i < 3_000; i++) {
            Tenant tenant = tenants.get(random.nextInt(tenants.size()));
            pool.as(tenant);
            String key = "k" + random.nextInt(30);
            int length = 1 + random.nextInt(4_000);
            switch (random.nextInt(12)) {
                case 0, 1, 2, 3 -> ends.merge(pool.put(key, length), 1, Integer::sum);
                case 4 -> ends.merge(pool.upsert(key, length), 1, Integer::sum);
                case 5, 6 -> {
                    GrantReply reply = pool.grant(key, length);
                    if (reply.status() == Status.OK && reply.grants().getFirst().status() == Status.OK) {
                        open.add(() -> pool.publish(
                                reply.grants().getFirst().objectId(),
                                key,
                                random.nextBoolean() ? List.of() : pool.write(reply, key, length)));
                    }
                }
                case 7 -> {
                    if (!open.isEmpty()) {
                        open.remove(random.nextInt(open.size())).run();
                    }
                }
                case 8 -> pool.lookup(key);
                case 9 -> pool.remove(key, random.nextBoolean());
                case 10 -> pool.world.run(random.nextInt(3_000));
                default -> {
                    if (random.nextInt(30) == 0) {
                        ModelMaster next = pool.master();
                        next.goBy(rules(quotas, 1));
                        pool.standBy();
                        pool.lead(next, ++epoch).talkTo(next);
                        open.clear();
                    }
                }
            }
            assertBelowCeilings(pool, quotas, seed);
        }
        assertThat(ends.keySet()).contains(Status.OK, Status.QUOTA_EXCEEDED);
        pool.pass(60_000);
        for (String tenant : List.of("default", "a")) {
            QuotaStatus status = of(pool, tenant);
            assertThat(status.used().grantedObjects()).as("seed %d", seed).isZero();
            assertThat(status.used().grantedBytes()).isZero();
            assertThat(status.used().objects())
                    .isEqualTo(kept(pool, Tenant.of(tenant)).size());
        }
        for (Tenant tenant : tenants) {
            pool.as(tenant).removeAll(true);
        }
        for (QuotaStatus status : pool.talkedTo().core().status().quotas()) {
            assertThat(status.used()).as("%s, seed %d", status.tenant(), seed).isEqualTo(Balance.NOTHING);
        }
    }

    private static void assertBelowCeilings(Scenario pool, Quotas quotas, long seed) {
        for (QuotaStatus status : pool.talkedTo().core().status().quotas()) {
            Balance used = status.used();
            Quota quota = quotas.of(status.tenant());
            assertThat(used.allBytes()).as("%s, seed %d", status, seed).isBetween(0L, quota.ceilingBytes());
            assertThat(used.allObjects()).as("%s, seed %d", status, seed).isBetween(0L, quota.ceilingObjects());
            assertThat(List.of(used.bytes(), used.grantedBytes(), used.objects(), used.grantedObjects()))
                    .allMatch(it -> it >= 0);
        }
    }
}
