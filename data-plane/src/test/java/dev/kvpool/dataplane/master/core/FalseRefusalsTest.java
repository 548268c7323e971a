// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.Consistency;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.master.core.tenant.Quotas;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.PutOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A writer says that a node had no place, or asks for room that it does not use. One node has room for 40 objects, and evicts above 36. */
class FalseRefusalsTest {
    private static final Tenant A = Tenant.of("a");
    private static final Tenant B = Tenant.of("b");
    private static final long EXTENT = 1088;

    private final Scenario pool =
            new Scenario().withNodes(40 * EXTENT, "n").leading(1).as(A);

    @Test
    void itIsNotBelievedAgainstTheNodesOwnWordButForItsOwnTenantUntilTheNodeSaysMore() {
        pool.node("n").tellLargestFree(20 * EXTENT);
        claimsNoSpace(B, 1);
        assertThat(granted("b", 1)).isEqualTo(Status.NO_SPACE);
        assertThat(pool.as(A).put("a", 1)).isEqualTo(Status.OK);

        pool.node("n").tellLargestFree(20 * EXTENT);
        pool.world.run(10);
        assertThat(pool.as(B).put("b", 1)).isEqualTo(Status.OK);
    }

    @Test
    void itCostsOthersNothing() {
        pool.fill("a", 20);
        pool.node("n").tellLargestFree(20 * EXTENT);
        for (int i = 0; i < 10; i++) {
            claimsNoSpace(B, 10 * EXTENT);
            pool.world.run(20);
        }
        assertThat(pool.node("n").directory()).hasSize(20);
        assertThat(granted("b", 10 * EXTENT)).isEqualTo(Status.NO_SPACE);
        pool.world.run(20);
        assertThat(pool.node("n").directory()).as("the node has that room").hasSize(20);
    }

    @Test
    void itIsBelievedAtOnceWhereTheNodeSaysSo() {
        pool.fill("a", 20);
        pool.node("n").tellLargestFree(2 * EXTENT);
        claimsNoSpace(B, 3 * EXTENT);
        pool.as(A);
        assertThat(granted("large", 3 * EXTENT)).isEqualTo(Status.NO_SPACE);
        pool.world.run(20);
        assertThat(pool.node("n").directory()).as("room is made").hasSizeLessThan(20);
    }

    /** All that the first asks for together is many times what the tenant may have. */
    @Test
    void noMoreIsMadeRoomForThanTheTenantMayHave() {
        Map<String, Quota> quotas = new TreeMap<>();
        quotas.put("b", new Quota(0, 12 * EXTENT, Quota.UNLIMITED));
        pool.talkedTo()
                .goBy(new CacheRules(
                        Scenario.OBJECT_LEASE_MS,
                        EvictionRules.between(0.75, 0.90),
                        1,
                        Scenario.REPAIR_DELAY_MS,
                        Scenario.REPAIR_BYTES_PER_SECOND,
                        Consistency.STRICT,
                        new Quotas(quotas)));
        pool.fill("a", 35);
        List<GrantKey> keys = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            keys.add(new GrantKey(Key.of("b" + i), 9 * EXTENT));
        }
        pool.as(B);
        pool.send(new GrantRequest(pool.nextRequest(), 0, 1_000, false, keys, ""));
        pool.world.run(100);
        assertThat(pool.node("n").directory()).hasSizeBetween(35 - 12, 30);
        assertThat(granted("b", 9 * EXTENT)).isEqualTo(Status.OK);
    }

    private void claimsNoSpace(Tenant tenant, long payloadLength) {
        pool.as(tenant);
        GrantReply grant = pool.grant("claimed", payloadLength);
        if (grant.grants().getFirst().status() == Status.OK) {
            pool.publish(grant.grants().getFirst().objectId(), "claimed", List.of(), PutOutcome.NO_SPACE);
        }
    }

    private Status granted(String key, long payloadLength) {
        return pool.grant(key, payloadLength).grants().getFirst().status();
    }
}
