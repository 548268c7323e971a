// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.child.part.CacheRules;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Other rules of the cache reach running masters by their ConfigMap: no pod is recreated, and the leader stays. */
class LiveRulesTest {
    private static final String NAMESPACE = "live-rules";
    private static final String STORAGE = "storage: [{name: default, capacity: 1Gi, replicas: 2}]}";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    @Test
    void aChangeOfEveryRuleChangesTheConfigMapAndNoPodTemplateOrLeader() {
        PoolUnderTest pool =
                OPERATOR.make("demo", "{" + STORAGE).awaitChildren(15).run();
        AtomicInteger handovers = new AtomicInteger();
        OPERATOR.masters().onHandOver(address -> handovers.incrementAndGet());
        mastersGoBy(pool);
        pool.awaitReason(Reason.APPLIED);
        String before = pool.cacheRules();
        Map<String, Object> workloads = workloads();
        Map<String, String> pods = pods();
        assertThat(files("demo-master")).hasSize(2).containsOnlyNulls();

        pool.apply("""
                {cache: {objectLease: 30s, eviction: {highWatermarkPercent: 80, lowWatermarkPercent: 70}, takeoverReservePercent: 10,
                  softPin: {ttl: 60m, evict: false}, replicas: 2, repair: {delay: 1m, rate: 1Gi}}, %s
                """.formatted(STORAGE));

        assertThat(pool.awaitReason(Reason.MASTERS_READ_RULES))
                .contains("demo-master-0, demo-master-1 did not read the rules of spec.cache yet.");
        assertThat(pool.cacheRules())
                .isEqualTo(wanted(pool).text())
                .doesNotContain(before.lines().limit(9).toList());
        // A kubelet that sees its pod changed brings the files up to date at once.
        assertThat(files("demo-master")).hasSize(2).doesNotContainNull();
        assertThat(files("demo-default")).hasSize(2).containsOnlyNulls();
        mastersGoBy(pool);
        pool.awaitReason(Reason.APPLIED);
        assertThat(workloads()).isEqualTo(workloads);
        assertThat(pods()).isEqualTo(pods);
        assertThat(handovers).hasValue(0);
    }

    @Test
    void quotasOfTenantsChangeTheConfigMapAndNoPodTemplate() {
        String tenant =
                "{security: {mode: Permissive}, tenants: [{name: default, serviceAccounts: [{namespace: a, name: engine}]%s}], %s";
        PoolUnderTest pool = OPERATOR.make("shared", tenant.formatted("", STORAGE));
        await().until(() -> pool.masters() != null && pool.set("default") != null);
        pool.run();
        mastersGoBy(pool);
        pool.awaitReason(Reason.APPLIED);
        Map<String, Object> workloads = workloads();
        Map<String, String> pods = pods();

        pool.apply(tenant.formatted(", bytes: {guaranteed: 512Mi, ceiling: 1Gi}, objects: {ceiling: 9}", STORAGE));

        assertThat(pool.awaitReason(Reason.MASTERS_READ_RULES))
                .contains("did not read the rules of spec.cache and spec.tenants yet.");
        assertThat(pool.cacheRules())
                .contains("\ntenant-quotas=default:guaranteed=536870912:ceiling=1073741824:objects=9\n");
        mastersGoBy(pool);
        pool.awaitReason(Reason.APPLIED);
        assertThat(workloads()).isEqualTo(workloads);
        assertThat(pods()).isEqualTo(pods);
    }

    private static CacheRules wanted(PoolUnderTest pool) {
        return CacheRules.of(pool.get().getSpec());
    }

    private static void mastersGoBy(PoolUnderTest pool) {
        String name = pool.get().getMetadata().getName();
        PoolReport.CacheRules read = new PoolReport.CacheRules(wanted(pool).digest(), "");
        PoolReport leader =
                ScriptedMasters.leader(name + "-master-0", 1, 0, List.of(name + "-default-0", name + "-default-1"));
        OPERATOR.masters().say(name + "-master-0", Reports.goingBy(read, leader));
        OPERATOR.masters()
                .say(name + "-master-1", Reports.goingBy(read, ScriptedMasters.standby(name + "-master-1", 1)));
    }

    /** Templates of the pods, and how often their sets were changed. */
    private static Map<String, Object> workloads() {
        return OPERATOR.client().apps().statefulSets().inNamespace(NAMESPACE).list().getItems().stream()
                .collect(Collectors.toMap(
                        set -> set.getMetadata().getName(),
                        set -> List.of(set.getMetadata().getGeneration(), set.getSpec())));
    }

    private static Map<String, String> pods() {
        return OPERATOR.client().pods().inNamespace(NAMESPACE).list().getItems().stream()
                .collect(Collectors.toMap(
                        pod -> pod.getMetadata().getUid(),
                        pod -> pod.getSpec().toString() + pod.getMetadata().getDeletionTimestamp()));
    }

    /** What tells kubelets that the files of these pods have changed. */
    private static List<String> files(String owner) {
        return OPERATOR.client().pods().inNamespace(NAMESPACE).list().getItems().stream()
                .filter(pod -> pod.getMetadata().getName().startsWith(owner))
                .map(pod -> pod.getMetadata().getAnnotations().get(PoolLabels.FILES))
                .toList();
    }
}
