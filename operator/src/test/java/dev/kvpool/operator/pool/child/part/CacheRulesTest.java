// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.report.RulesAtMasters;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What masters read of spec.cache, and what is said while they have not. */
class CacheRulesTest {
    private static final String SPEC = "{storage: [{name: a, capacity: 1Gi}]}";

    private static CacheRules rules(String spec) {
        return CacheRules.of(new PoolSketch(spec).observation().spec());
    }

    private static PoolReport master(int ordinal, String digest, String problem) {
        PoolReport report =
                Reports.standby("demo-master-" + ordinal, 1, List.of()).build();
        return Reports.goingBy(new PoolReport.CacheRules(digest, problem), report);
    }

    @Test
    void theFileNamesEveryRuleAndEnds() {
        assertThat(rules(SPEC).text()).isEqualTo("""
                object-lease=10s
                eviction-high-watermark=0.98
                eviction-low-watermark=0.97
                takeover-reserve=0.01
                soft-pin-ttl=30m
                allow-evict-soft-pinned=true
                replicas=1
                repair-delay=30s
                repair-rate=268435456
                consistency=strict
                end
                """);
    }

    /** In the file, which masters read as they run, and not among the values, which their pods' variables name. */
    @Test
    void quotasOfTenantsAreInTheFileOnly() {
        CacheRules rules = rules("""
                {security: {mode: Required}, storage: [{name: a, capacity: 1Gi}], tenants: [
                 {name: chat, serviceAccounts: [{namespace: n, name: s}], bytes: {guaranteed: 1Gi, ceiling: 1500M}, objects: {ceiling: 9}},
                 {name: free, serviceAccounts: [{namespace: n, name: t}]},
                 {name: default, serviceAccounts: [{namespace: n, name: u}], bytes: {ceiling: 2Gi}}]}
                """);
        assertThat(rules.text())
                .endsWith(
                        "\ntenant-quotas=chat:guaranteed=1073741824:ceiling=1500000000:objects=9,default:ceiling=2147483648\nend\n");
        assertThat(rules.values()).isEqualTo(rules(SPEC).values());
        assertThat(rules.digest()).isNotEqualTo(rules(SPEC).digest());
    }

    /** The beginning of what sha256sum says of that file: masters reckon it from its bytes. */
    @Test
    void theDigestIsThatOfTheFile() {
        assertThat(rules(SPEC).digest()).isEqualTo("c1af72bc9eef3012");
        assertThat(rules("{cache: {replicas: 2}, storage: [{name: a, capacity: 1Gi}]}")
                        .digest())
                .isNotEqualTo("c1af72bc9eef3012");
    }

    @Test
    void nothingIsSaidOfMastersThatGoByThemOrCannotTell() {
        PoolSketch pool = new PoolSketch(SPEC)
                .says("demo-master-0", master(0, rules(SPEC).digest(), ""))
                .says("demo-master-1", PoolSketch.leader(List.of()))
                .silent("demo-master-2");

        assertThat(RulesAtMasters.sentences(pool.observation())).isEmpty();
    }

    @Test
    void whoIsBehindIsNamedAndWhyWhenThereIsAReason() {
        PoolSketch pool = new PoolSketch(SPEC)
                .says("demo-master-0", master(0, "0123456789abcdef", ""))
                .says("demo-master-1", master(1, "0123456789abcdef", "line 2, 'colour=red', names no rule"))
                .says("demo-master-2", master(2, "", ""));

        assertThat(RulesAtMasters.sentences(pool.observation()))
                .containsExactly(
                        "demo-master-0, demo-master-2 did not read the rules of spec.cache yet.",
                        "demo-master-1 keeps other rules than those of spec.cache: line 2, 'colour=red', names no rule.");
    }
}
