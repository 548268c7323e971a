// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.OperatorSettings.RolloutTerms;
import dev.kvpool.operator.pool.transition.TransitionPlan;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Pod;
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

    /** One master, as the masters of all pools answer to one script, which can follow one change of leaders only. */
    private static final String IN_MEMORY =
            "{onDataLoss: Replace, masters: {replicas: 1}, replicas: 2, storage: [{name: a, capacity: 1Gi}]}";

    private static final String ON_VOLUMES = """
            {masters: {replicas: 1}, replicas: 2, storage: [{name: a, capacity: 1Gi, volume: {type: persistentVolumeClaim}}]}""";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("rollout");

    @Test
    void poolsHaveTheirTurnAndStorageNodesOnVolumesWaitForAUser() {
        List<PoolUnderTest> pools = new ArrayList<>(IntStream.range(0, POOLS)
                .mapToObj(i -> OPERATOR.make("pool-" + i, IN_MEMORY).ready())
                .toList());
        PoolUnderTest onVolumes = OPERATOR.make("volumes", ON_VOLUMES).ready();
        pools.add(onVolumes);
        Map<PoolUnderTest, Set<String>> before = new HashMap<>();
        pools.forEach(pool -> before.put(pool, uids(pool.pods())));
        Map<String, String> volumes = onVolumes.storagePods();
        OperatorSettings settings = OperatorUnderTest.SETTINGS;

        OPERATOR.restart(new OperatorSettings(
                settings.image(),
                settings.version(),
                settings.namespace(),
                settings.drainTaints(),
                true,
                new RolloutTerms(AT_A_TIME, false)));
        List<Integer> atATime = new ArrayList<>();
        List<Boolean> saidToWait = new ArrayList<>();
        await().until(() -> {
            pools.forEach(PoolUnderTest::look);
            atATime.add((int) pools.stream()
                    .filter(pool ->
                            TransitionPlan.isChangingSettings(pool.status().steps()))
                    .count());
            saidToWait.add(
                    pools.stream().anyMatch(pool -> says(pool, "the turn comes to this pool: 2 pools at a time")));
            return pools.stream()
                    .allMatch(pool -> (pool == onVolumes
                                            ? uids(pool.labelled(Pod.class, PoolLabels.ROLE_MASTER))
                                            : uids(pool.pods()))
                                    .stream().noneMatch(before.get(pool)::contains)
                            && pool.status().steps().isEmpty());
        });

        assertThat(atATime.stream().max(Comparator.naturalOrder())).contains(AT_A_TIME);
        assertThat(saidToWait).contains(true);
        assertThat(onVolumes.storagePods()).isEqualTo(volumes);
        onVolumes.play(() ->
                says(onVolumes, "kubectl kvpool restart volumes --role storage") && onVolumes.has(Reason.COMPLETE));

        onVolumes.annotate(PoolLabels.restart(PoolLabels.ROLE_STORAGE), "2026-01-01T12:00:00Z");
        onVolumes.play(() -> onVolumes.has(Reason.UP_TO_DATE)
                && onVolumes.storagePods().values().stream().noneMatch(volumes::containsValue));
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
