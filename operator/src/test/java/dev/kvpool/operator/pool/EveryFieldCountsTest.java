// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.RollPhase;
import dev.kvpool.api.v1alpha1.RollStatus;
import dev.kvpool.operator.pool.roll.RollPlan;
import dev.kvpool.operator.pool.roll.RollPool;
import dev.kvpool.operator.schema.SchemaFields;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

/** No field is decoration: changing any one changes an object of the pool or what its status says, or is refused. */
class EveryFieldCountsTest {
    private static final Path TABLES = Path.of("src/test/resources/field-changes");

    /** Fields that can have one value only so far: the API server refuses every other. */
    private static final Set<String> ONE_VALUE = Set.of("spec.storage.medium");

    private static final String ONE_SET = "storage: [{name: a, capacity: 1Gi}]";
    private static final String TWO_SETS =
            "{transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi}]}";

    /** What comes of a spec: problems found, objects made, what the status says of both. */
    private record Effect(
            List<Finding> problems,
            List<HasMetadata> children,
            List<Finding> findings,
            List<RollPlan> upgrades,
            List<DrainStatus> drains) {}

    @ParameterizedTest(name = "{0}")
    @CsvFileSource(resources = "/field-changes/pool.csv", delimiter = '|')
    void aChangedPoolHasAnEffect(String field, String before, String after) {
        assertThat(poolEffect(after)).isNotEqualTo(poolEffect(before));
    }

    @ParameterizedTest(name = "{0}")
    @CsvFileSource(resources = "/field-changes/engine.csv", delimiter = '|')
    void aChangedTransferEngineHasAnEffect(String field, String before, String after) {
        assertThat(effect(new PoolSketch(TWO_SETS).engine(after)))
                .isNotEqualTo(effect(new PoolSketch(TWO_SETS).engine(before)));
    }

    @Test
    void theSameSpecHasTheSameEffect() {
        assertThat(poolEffect("{}")).isEqualTo(poolEffect("{}"));
    }

    @ParameterizedTest
    @CsvSource({"kvcachepools.kvpool.dev.yaml, pool.csv", "transferengines.kvpool.dev.yaml, engine.csv"})
    void noFieldIsForgotten(String crd, String table) throws IOException {
        Set<String> tried = new TreeSet<>();
        for (String row : Files.readAllLines(TABLES.resolve(table))) {
            tried.add(row.substring(0, row.indexOf(" | ")));
        }
        Set<String> fields = new TreeSet<>(SchemaFields.of(crd));
        fields.removeAll(ONE_VALUE);

        assertThat(tried).isEqualTo(fields);
    }

    private static Effect poolEffect(String spec) {
        String inner = spec.strip().substring(1, spec.strip().length() - 1);
        boolean hasStorage = inner.contains("storage:");
        String whole = "{" + inner + (inner.isEmpty() || hasStorage ? "" : ", ") + (hasStorage ? "" : ONE_SET) + "}";
        PoolSketch sketch = new PoolSketch(whole).node("n1", Map.of());
        Effect now = effect(inner.contains("transferEngine: demo") ? sketch.engine("{}") : sketch);
        List<HasMetadata> children = new ArrayList<>(now.children());
        children.addAll(sketch.status(asking())
                .masters(2, 1, PoolSketch.leader(List.of()))
                .plan()
                .apply());
        children.addAll(outdated(whole).apply());
        List<Finding> findings = new ArrayList<>(now.findings());
        outdated(whole).heldBack().forEach(sentence -> findings.add(new Finding(Reason.WOULD_LOSE_BYTES, sentence)));
        return new Effect(now.problems(), children, findings, upgrades(whole), drains(whole));
    }

    /** What is planned where a storage node runs with earlier settings. */
    private static PoolPlan outdated(String spec) {
        return new PoolSketch(spec)
                .node("n1", Map.of())
                .engine("{}")
                .set("a", 1)
                .pod(PoolSketch.pod("demo-a-0", PoolLabels.ROLE_STORAGE, "a", true, "earlier"))
                .plan();
    }

    /** The status of a pool whose preflight is under way. */
    private static KvCachePoolStatus asking() {
        RollStatus roll = new RollStatus(
                PoolSketch.IMAGE, "kvpool:before", RollPhase.PREFLIGHT, null, PoolSketch.NOON.toString(), null, null);
        return PoolSketch.statusWith(roll);
    }

    /** What the same spec does to an upgrade: at its check, before its first storage node, and in a step of 5 minutes. */
    private static List<RollPlan> upgrades(String spec) {
        KvCachePoolSpec read = new PoolSketch(spec).observation().spec();
        RollPool before = new RollPool(2, 4).want(RollPool.NEW).options(read.upgrade());
        RollPool masters = before.preflight("rolling-warm").rounds(3).mastersRun(RollPool.NEW);
        RollPool step = masters.rounds(1).later(Duration.ofMinutes(5));
        return List.of(before.plan(), masters.plan(), step.plan());
    }

    /** What becomes of storage nodes that cannot be emptied, one for 5 and one for 20 minutes. */
    private static List<DrainStatus> drains(String spec) {
        PoolSketch sketch = new PoolSketch(spec)
                .node("n1", Map.of())
                .engine("{}")
                .set("a", 3)
                .masters(2, 1, PoolSketch.leader(List.of()));
        List<DrainStatus> begun = List.of(emptyingSince("demo-a-1", 5), emptyingSince("demo-a-2", 20));
        return sketch.status(PoolSketch.statusWith(begun)).plan().drains().next();
    }

    private static DrainStatus emptyingSince(String node, int minutes) {
        String since = PoolSketch.NOON.minus(Duration.ofMinutes(minutes)).toString();
        return new DrainStatus(node, DrainPhase.EMPTYING, since, null, null, null);
    }

    private static Effect effect(PoolSketch sketch) {
        PoolPlan plan = sketch.plan();
        List<Finding> problems = PoolValidator.validate(sketch.observation());
        List<Finding> findings = new PoolFindings(sketch.observation(), plan, PoolSketch.SETTINGS)
                .all(problems, new Outcome(List.of(), List.of()));
        return new Effect(problems, plan.apply(), findings, List.of(), List.of());
    }
}
