// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.transition.TransitionPlan;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Another operator that makes other pods of the same specs, over several pools on a real API server: as many at a time as it may. */
class RolloutLifecycleTest {
    private static final int POOLS = 5;
    private static final int AT_A_TIME = 2;
    private static final int LOOKS = 30;

    /** One master, as the masters of all pools answer to one script, which can follow one change of leaders only. */
    private static final String IN_MEMORY =
            "{transferEngine: with-agents, onDataLoss: Replace, masters: {replicas: 1}, replicas: 2, storage: [{name: a, capacity: 1Gi}]}";

    private static final String ON_VOLUMES = """
            {transferEngine: with-agents, masters: {replicas: 1}, replicas: 2, storage: [
              {name: a, capacity: 1Gi, volume: {type: persistentVolumeClaim}}]}""";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("rollout");

    @Test
    void poolsHaveTheirTurnAndStorageNodesOnVolumesWaitForAUser() {
        OPERATOR.applyEngine("with-agents", "{agents: {}}");
        List<PoolUnderTest> pools = new ArrayList<>(IntStream.range(0, POOLS)
                .mapToObj(i -> OPERATOR.make("pool-" + i, IN_MEMORY).ready())
                .toList());
        PoolUnderTest onVolumes = OPERATOR.make("volumes", ON_VOLUMES).ready();
        pools.add(onVolumes);
        Map<PoolUnderTest, Set<String>> before = new HashMap<>();
        pools.forEach(pool -> before.put(pool, uids(pool.pods())));
        Map<String, String> volumes = onVolumes.storagePods();
        PodTemplateSpec ofVolumes = onVolumes.set("a").getSpec().getTemplate();

        OPERATOR.stop();
        pools.forEach(PoolUnderTest::ageAgents);
        OPERATOR.restart(OperatorUnderTest.otherBuild(AT_A_TIME));
        List<Long> atATime = new ArrayList<>();
        List<Integer> agentsAtATime = new ArrayList<>();
        List<Boolean> saidToWait = new ArrayList<>();
        await().until(() -> {
            pools.forEach(PoolUnderTest::look);
            atATime.add(changing());
            saidToWait.add(
                    pools.stream().anyMatch(pool -> says(pool, "the turn comes to this pool: 2 pools at a time")));
            Set<PoolUnderTest> begun =
                    pools.stream().filter(pool -> !pool.hasAgedAgents()).collect(Collectors.toSet());
            Set<PoolUnderTest> done = pools.stream()
                    .filter(pool -> (pool == onVolumes
                                            ? uids(pool.labelled(Pod.class, PoolLabels.ROLE_MASTER))
                                            : uids(pool.pods()))
                                    .stream().noneMatch(before.get(pool)::contains)
                            && pool.status().steps().isEmpty())
                    .collect(Collectors.toSet());
            begun.removeAll(done);
            agentsAtATime.add(begun.size());
            return done.size() == pools.size();
        });

        assertThat(atATime.stream().max(Comparator.naturalOrder())).contains((long) AT_A_TIME);
        assertThat(agentsAtATime)
                .as("pools whose agents are other ones, and which are not done")
                .allMatch(number -> number <= AT_A_TIME);
        assertThat(pools).noneMatch(PoolUnderTest::hasAgedAgents);
        assertThat(saidToWait).contains(true);
        assertThat(pools).allSatisfy(pool -> assertThat(pool.events()).contains(EventReason.ROLLOUT_TURN.text()));
        assertThat(onVolumes.storagePods()).isEqualTo(volumes);
        onVolumes.play(() ->
                says(onVolumes, "kubectl kvpool restart volumes --role storage") && onVolumes.has(Reason.COMPLETE));
        assertThat(onVolumes.set("a").getSpec().getTemplate()).isEqualTo(ofVolumes);

        oneDies(onVolumes);
        onVolumes.annotate(PoolLabels.restart(PoolLabels.ROLE_STORAGE), "2026-01-01T12:00:00Z");
        onVolumes.play(() -> onVolumes.has(Reason.UP_TO_DATE)
                && onVolumes.storagePods().values().stream().noneMatch(volumes::containsValue));
        assertThat(onVolumes.set("a").getSpec().getTemplate()).isNotEqualTo(ofVolumes);
    }

    /** A storage node that waits for a user comes back as it was, and the operator leaves it at that. */
    private static void oneDies(PoolUnderTest pool) {
        String before = settings(pool, "volumes-a-1");
        OPERATOR.cluster().removePod("volumes-a-1");
        pool.play(() -> pool.storagePods().size() == 2 && pool.has(Reason.COMPLETE));
        assertThat(settings(pool, "volumes-a-1")).isEqualTo(before);
        OPERATOR.awaitLooks(LOOKS);
        List<String> writes = OPERATOR.writes();
        OPERATOR.awaitLooks(LOOKS);
        assertThat(OPERATOR.writes()).isEqualTo(writes);
    }

    private static String settings(PoolUnderTest pool, String name) {
        return pool.pods().stream()
                .filter(pod -> pod.getMetadata().getName().equals(name))
                .map(pod -> pod.getMetadata().getAnnotations().get(PoolLabels.SETTINGS))
                .findFirst()
                .orElseThrow();
    }

    /** Pools that are brought to other settings, at one moment. */
    private static long changing() {
        return OPERATOR.client().resources(KvCachePool.class).inNamespace("rollout").list().getItems().stream()
                .filter(pool ->
                        TransitionPlan.isChangingSettings(pool.getStatus().steps()))
                .count();
    }

    private static boolean says(PoolUnderTest pool, String words) {
        return pool.condition(ConditionType.PROGRESSING)
                .filter(condition -> condition.reason().equals(Reason.OF_EARLIER_OPERATOR.text()))
                .filter(condition -> condition.message().contains(words))
                .isPresent();
    }

    private static Set<String> uids(List<Pod> pods) {
        return pods.stream().map(pod -> pod.getMetadata().getUid()).collect(Collectors.toSet());
    }
}
