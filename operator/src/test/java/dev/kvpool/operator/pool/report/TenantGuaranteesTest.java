// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Condition TenantsOvercommitted says whether guarantees fit, by the leader's word on what is there, and is there only where there are any. */
class TenantGuaranteesTest {
    private static final long GI = 1L << 30;

    @Test
    void aPoolThatGuaranteesNothingHasNoSuchCondition() {
        assertThat(TenantGuarantees.of(pool("", 10 * GI).observation())).isEmpty();
        assertThat(TenantGuarantees.of(
                        pool(tenant("a", "{ceiling: 1Gi}"), 10 * GI).observation()))
                .isEmpty();
    }

    @Test
    void guaranteesUpToTheLowWatermarkFit() {
        assertThat(finding(tenant("a", "{guaranteed: 90Gi}") + tenant("b", "{ceiling: 200Gi}"), 100 * GI))
                .contains(new Finding(
                        Reason.GUARANTEES_FIT,
                        "Tenants are guaranteed 90Gi together; the storage nodes that are ready hold 100Gi, of which 90Gi lie below"
                                + " the low watermark of 90%."));
    }

    @Test
    void oneByteMoreDoesNot() {
        Optional<Finding> finding =
                finding(tenant("a", "{guaranteed: 90Gi}") + tenant("b", "{guaranteed: \"1\"}"), 100 * GI);

        assertThat(finding.map(Finding::reason)).contains(Reason.GUARANTEES_SCALED_DOWN);
        assertThat(finding.orElseThrow().message()).endsWith("each has 99% of its guarantee.");
    }

    @Test
    void theSentenceHasTheNumbersAndThePart() {
        assertThat(finding(tenant("a", "{guaranteed: 60Gi}") + tenant("b", "{guaranteed: 60Gi}"), 100 * GI))
                .contains(
                        new Finding(
                                Reason.GUARANTEES_SCALED_DOWN,
                                "Tenants are guaranteed 120Gi together; the storage nodes that are ready hold 100Gi, of which 90Gi lie below"
                                        + " the low watermark of 90%. Until the one is more or the other less, each has 75% of its guarantee."));
    }

    /** The largest guarantees that the schema takes, of the largest capacity: no sum overflows. */
    @Test
    void largeAmountsAreReckonedToo() {
        StringBuilder tenants = new StringBuilder();
        for (int i = 0; i < 64; i++) {
            tenants.append(tenant("t" + i, "{guaranteed: 1Pi}"));
        }
        assertThat(finding(tenants.toString(), Long.MAX_VALUE).map(Finding::reason))
                .contains(Reason.GUARANTEES_FIT);
        assertThat(finding(tenants.toString(), 32 * GI).orElseThrow().message())
                .endsWith("each has 0% of its guarantee.");
    }

    @Test
    void withoutALeaderOrNodesNothingIsSaidOfIt() {
        assertThat(finding(tenant("a", "{guaranteed: 1Gi}"), 0).map(Finding::reason))
                .contains(Reason.GUARANTEES_NOT_OBSERVED);
        assertThat(TenantGuarantees.of(new PoolSketch(spec(tenant("a", "{guaranteed: 1Gi}"))).observation())
                        .map(Finding::reason))
                .contains(Reason.GUARANTEES_NOT_OBSERVED);
    }

    private static Optional<Finding> finding(String tenants, long capacity) {
        return TenantGuarantees.of(pool(tenants, capacity).observation());
    }

    private static PoolSketch pool(String tenants, long capacity) {
        return new PoolSketch(spec(tenants))
                .masters(
                        1,
                        1,
                        Reports.leader("demo-master-0", 1, List.of())
                                .with("poolId", PoolSketch.UID)
                                .with("version", null)
                                .with("capacityBytes", capacity)
                                .with("sharedCapacityBytes", capacity)
                                .build());
    }

    private static String spec(String tenants) {
        return """
                {security: {mode: Required}, cache: {eviction: {lowWatermarkPercent: 90}}, storage: [{name: a, capacity: 50Gi, replicas: 2}],
                  tenants: [%s]}""".formatted(tenants);
    }

    private static String tenant(String name, String bytes) {
        return "{name: %s, serviceAccounts: [{namespace: n, name: %s}], bytes: %s},".formatted(name, name, bytes);
    }
}
