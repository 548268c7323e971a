// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.ExpectationSource;
import dev.kvpool.api.v1alpha1.status.PodSizing;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.SizingStatus;
import dev.kvpool.operator.pool.naming.Rounding;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.report.PoolStatus;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables of how much memory pods get, what is said of it, and which limits are refused. */
class SizingTest {
    private static final Outcome NOTHING_DONE = new Outcome(List.of(), List.of());

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            storage: [{name: a, capacity: 1Gi}]                                    | 1048576    | POOL | 512Mi   | 1Gi
            storage: [{name: a, capacity: 1Ti}]                                    | 1048576    | POOL | 512Mi   | 1Gi
            storage: [{name: a, capacity: 1Ti, replicas: 2}]                       | 2097152    | POOL | 1280Mi  | 1280Mi
            storage: [{name: a, capacity: 1Ti, replicas: 2}, {name: b, capacity: 1Ti}] | 4194304 | POOL | 2304Mi | 2304Mi
            cache: {replicas: 2}, storage: [{name: a, capacity: 1Ti, replicas: 2}] | 1048576    | POOL | 512Mi   | 1Gi
            storage: [{name: a, capacity: 1Ti, ssd: {capacity: 1Ti}}]              | 2097152    | POOL | 1280Mi  | 1280Mi
            storage: [{name: a, capacity: 4Ti, perNode: {}}]                       | 16777216   | POOL | 8448Mi  | 8448Mi
            storage: [{name: a, capacity: 32Ti, replicas: 256}]                    | 1073741824 | POOL | 512256Mi | 512256Mi
            masters: {expectedObjects: 1}, storage: [{name: a, capacity: 1Ti, replicas: 9}] | 1 | SPEC | 512Mi | 1Gi
            masters: {expectedObjects: 10000000}, storage: [{name: a, capacity: 1Gi}] | 10000000 | SPEC | 5Gi  | 5Gi
            masters: {expectedObjects: 10000000}, cache: {replicas: 3}, storage: [{name: a, capacity: 1Gi}] | 10000000 | SPEC | 6912Mi | 6912Mi
            """)
    void masters(String spec, long objects, ExpectationSource from, Quantity request, Quantity limit) {
        PoolSketch sketch = sketch(spec)
                .node("n1", Map.of())
                .node("n2", Map.of())
                .node("n3", Map.of())
                .node("n4", Map.of());

        SizingStatus sizing = sizing(sketch);

        assertThat(sizing.expectedObjects()).isEqualTo(objects);
        assertThat(sizing.expectedObjectsFrom()).isEqualTo(from);
        assertThat(sizing.roomForObjects()).isGreaterThanOrEqualTo(Rounding.twoDigits(objects));
        assertThat(resources(sketch, "demo-master").getRequests()).containsEntry("memory", request);
        assertThat(resources(sketch, "demo-master").getLimits()).containsEntry("memory", limit);
    }

    @Test
    void theSumOfAMasterIsSaid() {
        PodSizing master = sizing(sketch("masters: {expectedObjects: 10000000}, storage: [{name: a, capacity: 1Gi}]"))
                .pods()
                .getFirst();

        assertThat(master.name()).isEqualTo("master");
        assertThat(master.sum())
                .isEqualTo(
                        "index of 10000000 objects 1908Mi + half of that for the collector 954Mi + rest of the heap 128Mi +"
                                + " outside the heap 1994Mi = 4984Mi");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            1Gi   | {}                          | 1600Mi   | -    | segment 1Gi + page tables and index 64Mi + process 512Mi = 1600Mi
            100M  | {}                          | 614Mi    | -    | segment 96Mi + page tables and index 6Mi + process 512Mi = 614Mi
            64Gi  | {memory: {hugePages: 1Gi}}  | 4608Mi   | 64Gi | page tables and index 4Gi + process 512Mi = 4608Mi
            8Gi   | {protocols: [ascend, tcp], accelerator: {chip: A2}} | 10496Mi | - | segment 8Gi + page tables and index 512Mi + process 512Mi + /dev/shm 256Mi + CANN 1Gi = 10496Mi
            8Gi   | {socketDirectory: /run/kvpool} | 10Gi | - | segment 8Gi + page tables and index 512Mi + process 512Mi + memory that clients share 1Gi = 10Gi
            1Gi, volume: {type: persistentVolumeClaim} | {} | 1600Mi | - | segment in the page cache 1Gi + page tables and index 64Mi + process 512Mi = 1600Mi
            """)
    void storageNodes(String capacity, String engine, Quantity memory, Quantity hugePages, String sum) {
        PoolSketch sketch = sketch("transferEngine: demo, storage: [{name: a, capacity: %s}]".formatted(capacity))
                .engine(engine);

        assertThat(sizing(sketch).pods().getLast()).isEqualTo(new PodSizing("a", memory, hugePages, sum));
        ResourceRequirements resources = resources(sketch, "demo-a");
        assertThat(resources.getLimits()).containsEntry("memory", memory);
        assertThat(resources.getRequests()).containsEntry("memory", memory);
    }

    /** Whatever part of the resources the user sets, the API server takes what comes of it, and the status says it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {limits: {memory: 4Gi}}                              | 1600Mi | 4Gi
            {limits: {memory: 1500Mi}}                           | 1500Mi | 1500Mi
            {requests: {memory: 1Gi}}                            | 1Gi    | 1600Mi
            {requests: {memory: 8Gi}}                            | 8Gi    | 8Gi
            {requests: {memory: 2Gi}, limits: {memory: 3Gi}}     | 2Gi    | 3Gi
            {limits: {cpu: 4}}                                   | 1600Mi | 1600Mi
            """)
    void resourcesOfTheSpecTakeThePlaceOfOurs(String resources, Quantity request, Quantity limit) {
        PoolSketch sketch = sketch("storage: [{name: a, capacity: 1Gi, resources: %s}]".formatted(resources));

        assertThat(resources(sketch, "demo-a").getRequests()).containsEntry("memory", request);
        assertThat(resources(sketch, "demo-a").getLimits()).containsEntry("memory", limit);
        assertThat(sizing(sketch).pods().getLast().memory()).isEqualTo(limit);
    }

    /** The API server refuses a request for huge pages that is not the limit. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {}                                   | 4Gi
            {limits: {hugepages-2Mi: 8Gi}}       | 8Gi
            {requests: {hugepages-2Mi: 8Gi}}     | 8Gi
            {requests: {hugepages-2Mi: 1Gi}}     | 4Gi
            """)
    void hugePagesAreRequestedAsTheyAreLimited(String resources, Quantity pages) {
        PoolSketch sketch = sketch(
                        "transferEngine: demo, storage: [{name: a, capacity: 4Gi, resources: %s}]".formatted(resources))
                .engine("{memory: {hugePages: 2Mi}}");

        assertThat(resources(sketch, "demo-a").getRequests()).containsEntry("hugepages-2Mi", pages);
        assertThat(resources(sketch, "demo-a").getLimits()).containsEntry("hugepages-2Mi", pages);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            storage: [{name: a, capacity: 4Gi, resources: {limits: {memory: 1Gi}}}] | {} | Storage set a has a memory limit of 1Gi and needs segment 4Gi + page tables and index 32Mi + process 256Mi = 4384Mi at least. Raise or remove its resources.limits.memory, or lower its capacity.
            storage: [{name: a, capacity: 4Gi, resources: {limits: {memory: 4383Mi}}}] | {} | = 4384Mi at least
            storage: [{name: a, capacity: 4Gi, resources: {limits: {memory: 100Mi}}}] | {memory: {hugePages: 2Mi}} | needs page tables and index 32Mi + process 256Mi = 288Mi at least
            storage: [{name: a, capacity: 4Gi, resources: {limits: {hugepages-2Mi: 1Gi}}}] | {memory: {hugePages: 2Mi}} | Storage set a has a limit of hugepages-2Mi of 1Gi, but its segment of 4Gi
            storage: [{name: a, capacity: 4Gi, resources: {limits: {memory: 4400Mi}}}] | {protocols: [ascend, tcp], accelerator: {chip: A2}} | + /dev/shm 256Mi + CANN 1Gi = 5664Mi at least
            storage: [{name: a, capacity: 4Gi, ssd: {capacity: 64Gi}, resources: {limits: {memory: 4400Mi}}}] | {} | + index of the SSD 64Mi + reads from the SSD 64Mi + process 256Mi = 4512Mi at least
            storage: [{name: a, capacity: 4Gi, ssd: {capacity: 64Gi}, resources: {limits: {memory: 4400Mi}}}] | {protocols: [ucx, tcp]} | + index of the SSD 64Mi + reads from the SSD 192Mi + process 256Mi = 4640Mi at least
            storage: [{name: a, capacity: 4Gi, volume: {type: persistentVolumeClaim}, resources: {limits: {memory: 100Mi}}}] | {} | needs page tables and index 32Mi + process 256Mi = 288Mi at least
            masters: {resources: {limits: {memory: 128Mi}}}, storage: [{name: a, capacity: 4Gi}] | {} | The masters have a memory limit of 128Mi and need rest of the heap 128Mi + outside the heap 86Mi = 214Mi. Raise or remove spec.masters.resources.limits.memory.
            masters: {expectedObjects: 10000000, resources: {limits: {memory: 1Gi}}}, storage: [{name: a, capacity: 4Gi}] | {} | = 4984Mi. Raise or remove spec.masters.resources.limits.memory, or expect 1600000 objects or fewer.
            """)
    void whatCannotHoldItIsRefusedWithTheSum(String spec, String engine, String sentence) {
        PoolSketch sketch = sketch("transferEngine: demo, " + spec).engine(engine);

        assertThat(problems(sketch)).singleElement().satisfies(problem -> {
            assertThat(problem.reason()).isEqualTo(Reason.MEMORY_LIMIT_TOO_SMALL);
            assertThat(problem.message()).contains(sentence);
        });
        assertThat(sketch.plan().apply()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            storage: [{name: a, capacity: 4Gi, resources: {limits: {memory: 4384Mi}}}] | {}
            storage: [{name: a, capacity: 4Gi, resources: {limits: {memory: 288Mi}}}] | {memory: {hugePages: 2Mi}}
            storage: [{name: a, capacity: 4Gi, resources: {limits: {hugepages-2Mi: 4Gi}}}] | {memory: {hugePages: 2Mi}}
            storage: [{name: a, capacity: 4Gi, volume: {type: persistentVolumeClaim}, resources: {limits: {memory: 288Mi}}}] | {}
            masters: {expectedObjects: 1600000, resources: {limits: {memory: 1Gi}}}, storage: [{name: a, capacity: 4Gi}] | {}
            masters: {resources: {limits: {memory: 1Gi}}}, storage: [{name: a, capacity: 32Ti, replicas: 256}] | {}
            """)
    void whatJustHoldsItIsFine(String spec, String engine) {
        assertThat(problems(sketch("transferEngine: demo, " + spec).engine(engine)))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"256Mi", "1Gi", "3Gi", "7777Mi", "64Gi"})
    void asManyObjectsAsHaveRoomMayBeExpected(String limit) {
        String masters = "masters: {%%s resources: {limits: {memory: %s}}}, storage: [{name: a, capacity: 4Gi}]"
                .formatted(limit);
        long room = sizing(sketch(masters.formatted(""))).roomForObjects();

        assertThat(room).isPositive();
        assertThat(problems(sketch(masters.formatted("expectedObjects: " + room + ","))))
                .isEmpty();
        assertThat(problems(sketch(masters.formatted("expectedObjects: " + room * 12 / 10 + ","))))
                .hasSize(1);
    }

    /** Another limit means another pod: a pool that grows and shrinks with its load must not restart its masters each time. */
    @Test
    void whatThePoolWasLargeEnoughForIsKept() {
        String small = "storage: [{name: a, capacity: 1Gi}]";
        SizingStatus large = sizing(sketch("storage: [{name: a, capacity: 1Ti, replicas: 30}]"));

        assertThat(sizing(sketch(small).status(status(large))))
                .usingRecursiveComparison()
                .ignoringFields("pods")
                .isEqualTo(large);
        assertThat(resources(sketch(small).status(status(large)), "demo-master").getLimits())
                .containsEntry("memory", large.pods().getFirst().memory());
    }

    @Test
    void whatTheSpecSaidCountsAsLongAsItSaysSo() {
        SizingStatus said = sizing(sketch("masters: {expectedObjects: 50000000}, storage: [{name: a, capacity: 1Gi}]"));

        assertThat(sizing(sketch("storage: [{name: a, capacity: 1Gi}]").status(status(said)))
                        .expectedObjects())
                .isEqualTo(1_048_576);
    }

    @ParameterizedTest
    @CsvSource({"0, 1048576", "1048576, 1048576", "1048577, 2097152", "30000000, 33554432"})
    void aPoolOfSmallObjectsIsSizedForThoseItHas(long held, long expected) {
        PoolSketch sketch = sketch("storage: [{name: a, capacity: 64Gi}]")
                .set("a", 1)
                .masters(2, 1, PoolSketch.leader(List.of(PoolSketch.node("demo-a-0", "ready", "", 1 << 20, held))));

        assertThat(sizing(sketch).expectedObjects()).isEqualTo(expected);
    }

    @Test
    void whatIsRefusedLeavesTheStatusOfWhatRuns() {
        SizingStatus runs = sizing(sketch("storage: [{name: a, capacity: 4Gi}]"));
        PoolSketch sketch = sketch("storage: [{name: a, capacity: 4Gi, resources: {limits: {memory: 1Gi}}}]")
                .status(status(runs));

        KvCachePoolStatus next = next(sketch);

        assertThat(next.phase()).isEqualTo(PoolPhase.INVALID);
        assertThat(next.message()).startsWith("Nothing was changed. Storage set a has a memory limit of 1Gi");
        assertThat(next.sizing()).isEqualTo(runs);
    }

    private static PoolSketch sketch(String spec) {
        PoolSketch sketch = new PoolSketch("{" + spec + "}");
        return spec.contains("transferEngine") ? sketch.engine("{}") : sketch;
    }

    private static SizingStatus sizing(PoolSketch sketch) {
        assertThat(problems(sketch)).isEmpty();
        return next(sketch).sizing();
    }

    private static KvCachePoolStatus next(PoolSketch sketch) {
        return new PoolStatus(PoolSketch.SETTINGS)
                .next(sketch.observation(), problems(sketch), sketch.plan(), NOTHING_DONE);
    }

    private static List<Finding> problems(PoolSketch sketch) {
        return PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS);
    }

    /** A status that says nothing but how the pods are sized. */
    private static KvCachePoolStatus status(SizingStatus sizing) {
        return new KvCachePoolStatus(
                null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                null, null, null, null, sizing, null);
    }

    private static ResourceRequirements resources(PoolSketch sketch, String name) {
        HasMetadata child = sketch.plan().apply().stream()
                .filter(it ->
                        it instanceof StatefulSet && it.getMetadata().getName().equals(name))
                .findFirst()
                .orElseThrow();
        return ((StatefulSet) child)
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getResources();
    }
}
