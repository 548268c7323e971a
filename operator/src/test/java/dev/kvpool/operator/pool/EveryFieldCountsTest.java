// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.report.PoolFindings;
import dev.kvpool.operator.pool.roll.RollPlan;
import dev.kvpool.operator.pool.roll.RollPool;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.schema.FieldChange;
import dev.kvpool.operator.schema.FieldChange.Kind;
import dev.kvpool.operator.schema.SchemaFields;
import dev.kvpool.operator.schema.SpecDocument;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** No field is decoration: changing any one changes an object of the pool or what its status says, or is refused. */
class EveryFieldCountsTest {
    /** Fields of a podTemplate that a role cannot have: the API server refuses every value. */
    private static final Set<String> REFUSED =
            Set.of("spec.masters.podTemplate.serviceAccountName", "spec.agents.podTemplate.topologySpreadConstraints");

    /** Enums whose values need other fields beside them; GoldenChildrenTest has a pool with each. */
    private static final Set<String> NOT_ALONE = Set.of("spec.storage.volume.type");

    private static final String TWO_SETS =
            "{transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi}]}";
    private static final String OTHER_SET =
            "{storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi, transferEngine: demo}, {name: c, capacity: 1Gi, transferEngine: demo}]}";

    /** Fields of a transfer engine that are the pool's, so that those of a set's do not count. */
    private static final List<String> OF_POOLS = List.of("spec.agents", "spec.ipFamilies", "spec.retry");

    /** What an upgrade comes to follows from {@code spec.upgrade} alone, which few of the specs differ in. */
    private static final Map<UpgradeSpec, List<RollPlan>> UPGRADES = new HashMap<>();

    /** What comes of a spec: problems found, objects made, what the status says of both. */
    private record Effect(
            List<Finding> problems,
            List<HasMetadata> children,
            List<Finding> findings,
            List<RollPlan> upgrades,
            List<StepStatus> drains) {}

    static Stream<Arguments> changes() {
        return Stream.of(Kind.values())
                .flatMap(kind -> kind.changes().stream().map(change -> Arguments.of(kind, change)));
    }

    static Stream<Arguments> enums() {
        return Stream.of(Kind.values())
                .flatMap(kind -> kind.changes().stream()
                        .filter(change -> values(kind, change.field()).size() > 1)
                        .filter(change -> !NOT_ALONE.contains(change.field()))
                        .map(change -> Arguments.of(kind, change)));
    }

    /** The values of an enum, or of the entries of a list of them. */
    private static List<JsonNode> values(Kind kind, String field) {
        JSONSchemaProps schema = SchemaFields.schemas(kind.crd()).get(field);
        JSONSchemaProps inner =
                schema.getItems() == null ? schema : schema.getItems().getSchema();
        return inner.getEnum();
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("changes")
    void aChangeHasAnEffect(Kind kind, FieldChange change) {
        assertThat(effect(kind, change.after())).isNotEqualTo(effect(kind, change.before()));
    }

    /** As the description of storage[].transferEngine says. */
    @ParameterizedTest
    @MethodSource("engineChanges")
    void ofASetsEngineCountsWhatConcernsItsStorageNodes(FieldChange change) {
        boolean isOfPools = OF_POOLS.stream().anyMatch(change.field()::startsWith);
        Effect before = effect(new PoolSketch(OTHER_SET).engine(change.before().text()));
        Effect after = effect(new PoolSketch(OTHER_SET).engine(change.after().text()));

        assertThat(before.equals(after)).isEqualTo(isOfPools);
    }

    static Stream<FieldChange> engineChanges() {
        return Kind.ENGINE.changes().stream();
    }

    /** Otherwise the effect might be another field's. */
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("changes")
    void aRowChangesItsFieldAlone(Kind kind, FieldChange change) {
        Set<String> fields = SchemaFields.of(kind.crd());
        Map<String, List<Object>> before = change.before().valuesOf(fields);
        Map<String, List<Object>> after = change.after().valuesOf(fields);
        Set<String> changed = new TreeSet<>(before.keySet());
        changed.addAll(after.keySet());
        changed.removeIf(field -> Objects.equals(before.get(field), after.get(field)));

        assertThat(changed).containsExactly(change.field());
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("enums")
    void eachValueOfAnEnumHasAnEffectOfItsOwn(Kind kind, FieldChange change) {
        boolean isList = SchemaFields.schemas(kind.crd()).get(change.field()).getItems() != null;
        Map<Effect, String> effects = new HashMap<>();
        for (JsonNode value : values(kind, change.field())) {
            Object set = isList ? List.of(value.asText()) : value.asText();
            String same = effects.put(effect(kind, change.after().with(change.field(), set)), value.asText());
            assertThat(same).as("value of the same effect as " + value).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void theSameSpecHasTheSameEffect(Kind kind) {
        FieldChange change = kind.changes().getFirst();

        assertThat(effect(kind, change.before())).isEqualTo(effect(kind, change.before()));
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void noFieldIsForgotten(Kind kind) {
        Set<String> fields = new TreeSet<>(SchemaFields.of(kind.crd()));
        fields.removeAll(REFUSED);

        assertThat(kind.changes()).extracting(FieldChange::field).containsExactlyInAnyOrderElementsOf(fields);
    }

    private static Effect effect(Kind kind, SpecDocument spec) {
        return kind == Kind.POOL ? poolEffect(spec) : effect(new PoolSketch(TWO_SETS).engine(spec.text()));
    }

    private static Effect poolEffect(SpecDocument spec) {
        String whole = spec.text();
        PoolSketch sketch =
                new PoolSketch(whole).node("n1", Map.of()).engine("{}").engine("other", "{timeouts: {connect: 1s}}");
        Effect now = effect(sketch);
        List<HasMetadata> children = new ArrayList<>(now.children());
        children.addAll(sketch.status(PoolSketch.asking(PoolSketch.IMAGE, "kvpool:before"))
                .masters(2, 1, PoolSketch.leader(List.of()))
                .plan()
                .apply());
        children.addAll(outdated(whole).apply());
        List<Finding> findings = new ArrayList<>(now.findings());
        findings.add(new Finding(
                Reason.WOULD_LOSE_BYTES, outdated(whole).transitions().words().heldBack()));
        UpgradeSpec options = new PoolSketch(whole).observation().spec().upgrade();
        return new Effect(
                now.problems(),
                children,
                findings,
                UPGRADES.computeIfAbsent(options, EveryFieldCountsTest::upgrades),
                drains(whole));
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

    /**
     * What these options do to an upgrade: at its check, before its first storage node, in a step whose image is not written in 8 minutes, which
     * is tried twice, and when all of it is upgraded.
     */
    private static List<RollPlan> upgrades(UpgradeSpec options) {
        RollPool before = new RollPool(2, 4).want(RollPool.NEW).options(options);
        RollPool masters = before.preflight("rolling-warm").rounds(3).mastersRun(RollPool.NEW);
        RollPool step = masters.rounds(1).later(Duration.ofMinutes(4)).rounds(1).later(Duration.ofMinutes(4));
        RollPool over = new RollPool(1, 1)
                .want(RollPool.NEW)
                .preflight("rolling-warm")
                .options(options)
                .rounds(200);
        return List.of(before.plan(), masters.plan(), step.plan(), over.plan());
    }

    /** What becomes of storage nodes that cannot be emptied, one for 5 and one for 20 minutes. */
    private static List<StepStatus> drains(String spec) {
        PoolSketch sketch = new PoolSketch(spec)
                .node("n1", Map.of())
                .engine("{}")
                .set("a", 3)
                .masters(2, 1, PoolSketch.leader(List.of()))
                .ledAllAlong();
        List<StepStatus> begun = List.of(emptyingSince("demo-a-1", 5), emptyingSince("demo-a-2", 20));
        List<StepStatus> drains = new ArrayList<>(
                PoolSketch.emptied(sketch.status(PoolSketch.statusWith(begun)).plan()));
        drains.addAll(PoolSketch.emptied(sketch.status(PoolSketch.statusWith(List.of(onCordonedSince(20))))
                .cordoned("worker")
                .plan()));
        return drains;
    }

    private static StepStatus onCordonedSince(int minutes) {
        String since = PoolSketch.NOON.minus(Duration.ofMinutes(minutes)).toString();
        return PoolSketch.emptying("demo-a-0", StepState.UNDER_WAY, since, "worker");
    }

    private static StepStatus emptyingSince(String node, int minutes) {
        String since = PoolSketch.NOON.minus(Duration.ofMinutes(minutes)).toString();
        return PoolSketch.emptying(node, StepState.UNDER_WAY, since, null);
    }

    private static Effect effect(PoolSketch sketch) {
        PoolPlan plan = sketch.plan();
        List<Finding> problems = PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS);
        List<Finding> findings = new PoolFindings(sketch.observation(), plan, PoolSketch.SETTINGS)
                .all(problems, new Outcome(List.of(), List.of()));
        return new Effect(problems, plan.apply(), findings, List.of(), List.of());
    }
}
