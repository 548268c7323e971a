// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.schema.FieldChange;
import dev.kvpool.operator.schema.FieldChange.Kind;
import dev.kvpool.operator.schema.SpecDocument;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The note of what a user asks for changes with each field that makes other pods, so that no user waits for a turn; and with nothing that
 * only an operator decides.
 */
class WishDigestTest {
    private static final String TWO_SETS =
            "{transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi}]}";

    /** Refused where there are pods, and of claims only. */
    private static final Set<String> OF_CLAIMS =
            Set.of("spec.storage.volume.storageClassName", "spec.storage.ssd.storageClassName");

    static Stream<Arguments> changes() {
        return Stream.of(Kind.values())
                .flatMap(kind -> kind.changes().stream().map(change -> Arguments.of(kind, change)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("changes")
    void itDiffersWhereAndOnlyWhereAChangeOfASpecMakesOtherPods(Kind kind, FieldChange change) {
        PoolSketch before = sketch(kind, change.before());
        PoolSketch after = sketch(kind, change.after());
        Set<String> otherPods = differing(notes(before, PoolLabels.SETTINGS), notes(after, PoolLabels.SETTINGS));
        Set<String> otherWishes = differing(notes(before, PoolLabels.ASKED), notes(after, PoolLabels.ASKED));

        assertThat(otherWishes).containsAll(otherPods);
        if (!OF_CLAIMS.contains(change.field())) {
            assertThat(otherPods).containsAll(otherWishes);
        }
    }

    @Test
    void aRestartIsAWish() {
        PoolSketch before = new PoolSketch(TWO_SETS).engine("{}");
        PoolSketch after = new PoolSketch(TWO_SETS)
                .engine("{}")
                .annotation(PoolLabels.restart(PoolLabels.ROLE_STORAGE), "2026-01-01T12:00:00Z");

        assertThat(differing(notes(before, PoolLabels.ASKED), notes(after, PoolLabels.ASKED)))
                .containsExactlyInAnyOrder("demo-a", "demo-b");
    }

    @Test
    void anotherOrderOfSecretsIsNone() {
        PoolSketch before = new PoolSketch(DirectorySpec.secrets(DirectorySpec.root())).engine("{}");
        PoolSketch after = new PoolSketch(DirectorySpec.secretsInAnotherOrder(DirectorySpec.root())).engine("{}");

        assertThat(notes(before, PoolLabels.SETTINGS)).containsOnlyKeys("demo-a", "demo-master");
        assertThat(notes(after, PoolLabels.SETTINGS)).isEqualTo(notes(before, PoolLabels.SETTINGS));
        assertThat(notes(after, PoolLabels.ASKED)).isEqualTo(notes(before, PoolLabels.ASKED));
    }

    @Test
    void aSettingOfTheOperatorIsNone() {
        PoolSketch before = new PoolSketch(TWO_SETS).engine("{agents: {}}");
        PoolSketch after = new PoolSketch(TWO_SETS).engine("{agents: {}}").settings(PoolSketch.PLATFORM_USER);

        assertThat(differing(notes(before, PoolLabels.SETTINGS), notes(after, PoolLabels.SETTINGS)))
                .containsExactlyInAnyOrder("demo-a", "demo-b", "demo-master");
        assertThat(differing(notes(before, PoolLabels.ASKED), notes(after, PoolLabels.ASKED)))
                .isEmpty();
    }

    private static PoolSketch sketch(Kind kind, SpecDocument spec) {
        PoolSketch sketch = new PoolSketch(kind == Kind.ENGINE ? TWO_SETS : spec.text())
                .node("n1", Map.of())
                .node("n2", Map.of("a", "b"));
        return kind == Kind.ENGINE
                ? sketch.engine(spec.text())
                : sketch.engine("{}").engine("other", "{timeouts: {connect: 1s}}");
    }

    /** Of workloads that both have. */
    private static Set<String> differing(Map<String, String> before, Map<String, String> after) {
        Set<String> names = new TreeSet<>(before.keySet());
        names.retainAll(after.keySet());
        names.removeIf(name -> before.get(name).equals(after.get(name)));
        return names;
    }

    private static Map<String, String> notes(PoolSketch sketch, String annotation) {
        Map<String, String> notes = new TreeMap<>();
        for (HasMetadata child : sketch.plan().apply()) {
            PodTemplateSpec template = switch (child) {
                case StatefulSet set -> set.getSpec().getTemplate();
                case DaemonSet set -> set.getSpec().getTemplate();
                default -> null;
            };
            if (template != null && template.getMetadata().getAnnotations().containsKey(annotation)) {
                notes.put(
                        child.getMetadata().getName(),
                        template.getMetadata().getAnnotations().get(annotation));
            }
        }
        return notes;
    }
}
