// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Pod;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The turn of a pool at another operator's settings, on a real API server: it lasts until Kubernetes has replaced the pool's agents. */
class AgentsRolloutLifecycleTest {
    private static final String NODE = "inference";
    private static final int LOOKS = 30;
    private static final String SPEC =
            "{transferEngine: with-agents, onDataLoss: Replace, masters: {replicas: 1}, replicas: 1, storage: [{name: a, capacity: 1Gi}]}";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("agents-rollout");

    @Test
    void theNextPoolWaitsUntilAgentsAreReplacedAndReady() {
        OPERATOR.cluster().addNode(NODE, Map.of());
        OPERATOR.applyEngine("with-agents", "{agents: {}}");
        List<PoolUnderTest> pools = Stream.of("one", "two")
                .map(name -> OPERATOR.make(name, SPEC).ready())
                .toList();
        OPERATOR.stop();
        pools.forEach(pool -> {
            pool.ageAgents();
            OPERATOR.cluster().runPodOn(agents(pool), NODE);
            OPERATOR.cluster().wantPods(agents(pool), 1);
        });
        List<List<Pod>> pods = pools.stream().map(PoolUnderTest::pods).toList();

        OPERATOR.restart(OperatorUnderTest.otherBuild(1));
        await().until(() -> pools.stream().anyMatch(pool -> !pool.hasAgedAgents()));
        PoolUnderTest first =
                pools.stream().filter(pool -> !pool.hasAgedAgents()).findFirst().orElseThrow();
        PoolUnderTest next =
                pools.stream().filter(pool -> pool != first).findFirst().orElseThrow();
        List<Pod> ofNext = pods.get(pools.indexOf(next));
        first.play(() -> first.pods().stream().noneMatch(pods.get(pools.indexOf(first))::contains)
                && first.status().steps().isEmpty());
        waits(next, ofNext, "while an agent is of the earlier template");

        String agent = agents(first) + "-" + NODE;
        OPERATOR.cluster().removePod(agent);
        waits(next, ofNext, "while the one in its place is not there");
        OPERATOR.cluster().createPodOn(agents(first), NODE);
        waits(next, ofNext, "while that is not ready");

        OPERATOR.cluster().runAgain(agent);
        next.play(() -> !next.hasAgedAgents()
                && next.pods().stream().noneMatch(ofNext::contains)
                && next.status().steps().isEmpty());
    }

    private static void waits(PoolUnderTest pool, List<Pod> pods, String when) {
        OPERATOR.awaitLooks(LOOKS);
        assertThat(pool.hasAgedAgents()).as(when).isTrue();
        assertThat(pool.pods()).as(when).isEqualTo(pods);
    }

    private static String agents(PoolUnderTest pool) {
        return pool.perNode("agent").getMetadata().getName();
    }
}
