// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.child.part.CacheRules;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Other rules of the cache reach running masters by their ConfigMap: nothing is made anew, and nobody hands over. */
class LiveRulesTest {
    private static final String NAMESPACE = "live-rules";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String STORAGE = "storage: [{name: default, capacity: 1Gi, replicas: 2}]}";

    private static OperatorUnderTest operator;
    private static ClusterActor cluster;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE);
        cluster = new ClusterActor(operator.client(), NAMESPACE);
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void aChangeOfEveryRuleChangesTheConfigMapAndNoPodTemplateOrLeader() {
        AtomicInteger handovers = new AtomicInteger();
        operator.masters().onHandOver(address -> handovers.incrementAndGet());
        operator.applyPool("demo", "{" + STORAGE);
        await().atMost(LIMIT)
                .until(() -> Children.of(operator.client(), NAMESPACE, "demo").size() == 15);
        cluster.runPodsOf("demo-master");
        cluster.runPodsOf("demo-default");
        cluster.takeLease("demo-master", "demo-master-0", 1);
        mastersGoBy(wanted());
        awaitReason(Reason.APPLIED);
        String before = Children.cacheRules(operator.client(), NAMESPACE, "demo");
        Map<String, Object> workloads = workloads();
        Map<String, String> pods = pods();
        assertThat(files("demo-master")).hasSize(2).containsOnlyNulls();

        operator.applyPool("demo", """
                {cache: {objectLease: 30s, eviction: {highWatermark: 0.8, lowWatermark: 0.7}, takeoverReserve: 0.1,
                  softPin: {ttl: 60m, evict: false}, replicas: 2, repair: {delay: 1m, rate: 1Gi}}, %s
                """.formatted(STORAGE));
        awaitReason(Reason.MASTERS_READ_RULES);

        assertThat(condition())
                .map(Condition::message)
                .contains("demo-master-0, demo-master-1 did not read the rules of spec.cache yet.");
        assertThat(Children.cacheRules(operator.client(), NAMESPACE, "demo"))
                .isEqualTo(wanted().text())
                .doesNotContain(before.lines().limit(9).toList());
        // A kubelet that sees its pod changed brings the files up to date at once.
        assertThat(files("demo-master")).hasSize(2).doesNotContainNull();
        assertThat(files("demo-default")).hasSize(2).containsOnlyNulls();
        mastersGoBy(wanted());
        awaitReason(Reason.APPLIED);
        assertThat(workloads()).isEqualTo(workloads);
        assertThat(pods()).isEqualTo(pods);
        assertThat(handovers).hasValue(0);
    }

    private static CacheRules wanted() {
        return CacheRules.of(operator.pool("demo").getSpec().cache());
    }

    private static void mastersGoBy(CacheRules rules) {
        PoolReport.CacheRules read = new PoolReport.CacheRules(rules.digest(), "");
        PoolReport leader = ScriptedMasters.leader("demo-master-0", 1, 0, List.of("demo-default-0", "demo-default-1"));
        operator.masters().say("demo-master-0", Reports.goingBy(read, leader));
        operator.masters().say("demo-master-1", Reports.goingBy(read, ScriptedMasters.standby("demo-master-1", 1)));
    }

    /** Templates of the pods, and how often their sets were changed. */
    private static Map<String, Object> workloads() {
        return operator.client().apps().statefulSets().inNamespace(NAMESPACE).list().getItems().stream()
                .collect(Collectors.toMap(set -> set.getMetadata().getName(), LiveRulesTest::whatCounts));
    }

    private static List<Object> whatCounts(StatefulSet set) {
        return List.of(set.getMetadata().getGeneration(), set.getSpec());
    }

    private static Map<String, String> pods() {
        return operator.client().pods().inNamespace(NAMESPACE).list().getItems().stream()
                .collect(Collectors.toMap(
                        pod -> pod.getMetadata().getUid(),
                        pod -> pod.getSpec().toString() + pod.getMetadata().getDeletionTimestamp()));
    }

    /** What tells kubelets that the files of these pods have changed. */
    private static List<String> files(String owner) {
        return operator.client().pods().inNamespace(NAMESPACE).list().getItems().stream()
                .filter(pod -> pod.getMetadata().getName().startsWith(owner))
                .map(pod -> pod.getMetadata().getAnnotations().get(PoolLabels.FILES))
                .toList();
    }

    private static void awaitReason(Reason reason) {
        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(condition()).map(Condition::reason).contains(reason.text()));
    }

    /** Whether the spec is applied, as said of the newest one. */
    private static Optional<Condition> condition() {
        KvCachePool pool = operator.pool("demo");
        return Optional.ofNullable(pool.getStatus()).stream()
                .flatMap(status -> status.conditions().stream())
                .filter(condition -> condition.type().equals(ConditionType.SPEC_APPLIED.text()))
                .filter(condition -> condition.observedGeneration()
                        == (long) pool.getMetadata().getGeneration())
                .findFirst();
    }
}
