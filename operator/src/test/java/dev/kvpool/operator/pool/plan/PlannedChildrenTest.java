// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.child.AgentDaemonSet;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the objects of a pool are made from tells whether they are the same. */
class PlannedChildrenTest {
    private static final String SPEC = "{storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final String SPREAD =
            "{storage: [{name: a, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /dev/shm/kvpool}}]}";

    @Test
    void equalOnesMakeEqualObjects() {
        for (String spec : List.of(SPEC, SPREAD)) {
            PlannedChildren one = planned(sketch(spec));
            PlannedChildren other = planned(sketch(spec));

            assertThat(one).isEqualTo(other);
            assertThat(yaml(one)).isEqualTo(yaml(other)).hasSizeGreaterThan(1000);
        }
    }

    @Test
    void whatIsSeenOfThePoolMattersToThem() {
        PlannedChildren before = planned(sketch(SPREAD));
        PlannedChildren after = planned(sketch(SPREAD).node("later", Map.of()));

        assertThat(yaml(after)).isNotEqualTo(yaml(before));
        assertThat(after).isNotEqualTo(before);
    }

    @Test
    void anEqualAmountInOtherWordsIsAnotherSpec() {
        PlannedChildren before = planned(sketch(SPEC));
        PoolSketch sketch = sketch(SPEC.replace("1Gi", "1024Mi"));
        KvCachePool pool = sketch.observation().pool();
        pool.getMetadata().setGeneration(pool.getMetadata().getGeneration() + 1);

        assertThat(planned(sketch).blueprint().spec())
                .isEqualTo(before.blueprint().spec());
        assertThat(planned(sketch)).isNotEqualTo(before);
    }

    @Test
    void whatAnotherSpecCanDoWithoutIsNoneOfThem() {
        PlannedChildren whole = planned(sketch("{transferEngine: demo, storage: [{name: a, capacity: 1Gi}]}")
                .engine("{agents: {}}"));
        PlannedChildren less =
                planned(sketch("{networkPolicy: {enabled: false}, storage: [{name: a, capacity: 1Gi}]}"));

        assertThat(whole.make()).noneMatch(whole::canDoWithout);
        assertThat(whole.make().stream().filter(less::canDoWithout))
                .extracting(HasMetadata::getKind)
                .containsOnly("NetworkPolicy", "DaemonSet");
    }

    /** Kubernetes would replace them at once, before the first master, and again when the pool goes back. */
    @Test
    void agentsHaveTheirImageUntilAnUpgradeThatEmptiesStorageNodesIsOver() {
        PoolSketch sketch = sketch("{image: 'new:2', transferEngine: demo, storage: [{name: a, capacity: 1Gi}]}")
                .engine("{agents: {}}")
                .set("a", 1)
                .masters(2, 1, PoolSketch.leader(List.of(PoolSketch.node("demo-a-0", "ready", "", 0, 0))));
        sketch.status(PoolSketch.statusWith(PoolSketch.asking("new:2", PoolSketch.IMAGE)
                .roll()
                .begun(RollMode.DRAINED, PoolSketch.NOON.toString())));

        assertThat(planned(sketch).make().stream().filter(AgentDaemonSet::is))
                .singleElement()
                .satisfies(agents -> assertThat(new KubernetesSerialization().asYaml(agents))
                        .contains(PoolSketch.IMAGE)
                        .doesNotContain("new:2"));
    }

    private static PoolSketch sketch(String spec) {
        return new PoolSketch(spec).node("here", Map.of("topology.kubernetes.io/zone", "eu-1"));
    }

    private static PlannedChildren planned(PoolSketch sketch) {
        return sketch.plan().children().orElseThrow();
    }

    private static String yaml(PlannedChildren planned) {
        return new KubernetesSerialization().asYaml(planned.make());
    }
}
