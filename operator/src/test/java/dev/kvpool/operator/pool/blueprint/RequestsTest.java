// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.blueprint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.time.Instant;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestsTest {
    private static final String NOON = "2026-01-01T12:00:00Z";
    private static final String LATER = "2026-01-01T12:00:01Z";
    private static final String SPEC =
            "{transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: p, capacity: 1Gi, perNode: {}}]}";
    private static final String ENGINE = "{protocols: [shm, tcp], socketDirectory: /run/kvpool, agents: {}}";

    @Test
    void nothingIsAsked() {
        assertThat(Requests.of((Map<String, String>) null)).isEqualTo(Requests.NONE);
        assertThat(Requests.of(Map.of("kvpool.dev/other", NOON, PoolLabels.RESTART, "")))
                .isEqualTo(Requests.NONE);
    }

    @Test
    void theLaterTimeCountsForARole() {
        Requests asked = Requests.of(Map.of(PoolLabels.RESTART, NOON, "kvpool.dev/restart-storage", LATER));
        assertThat(asked.restart(PoolLabels.ROLE_STORAGE)).contains(Instant.parse(LATER));
        assertThat(asked.restart(PoolLabels.ROLE_MASTER)).contains(Instant.parse(NOON));
        assertThat(Requests.of(Map.of(PoolLabels.RESTART, LATER, "kvpool.dev/restart-storage", NOON))
                        .restart(PoolLabels.ROLE_STORAGE))
                .contains(Instant.parse(LATER));
    }

    @Test
    void anOffsetIsATimeToo() {
        assertThat(Requests.of(Map.of("kvpool.dev/restart-agent", "2026-01-01T13:00:00+01:00"))
                        .restart(PoolLabels.ROLE_AGENT))
                .contains(Instant.parse(NOON));
    }

    @ParameterizedTest
    @ValueSource(strings = {"now", "true", "2026-01-01", "2026-01-01T12:00:00", "1767268800", " "})
    void whatIsNoTimeRestartsNothingAndIsNamed(String text) {
        Requests asked = Requests.of(Map.of(PoolLabels.RESTART, text, "kvpool.dev/restart-agent", NOON));
        assertThat(asked.refused()).singleElement().asString().contains("kvpool.dev/restart is \"" + text + "\"");
        assertThat(asked.restart(PoolLabels.ROLE_MASTER)).isEmpty();
        assertThat(asked.restart(PoolLabels.ROLE_AGENT)).contains(Instant.parse(NOON));
    }

    @Test
    void aLongTextIsCutWhereItIsNamed() {
        assertThat(Requests.of(Map.of(PoolLabels.RESTART, "x".repeat(100_000)))
                        .refused()
                        .getFirst())
                .hasSizeLessThan(300);
    }

    @Test
    void aRoleThatIsNoneIsNamed() {
        Requests asked = Requests.of(Map.of("kvpool.dev/restart-masters", NOON));
        assertThat(asked.restarts()).isEmpty();
        assertThat(asked.refused())
                .singleElement()
                .asString()
                .startsWith(
                        "Annotation kvpool.dev/restart-masters names no role: there are kvpool.dev/restart-master,");
    }

    @Test
    void anyTextAsksForAnotherTry() {
        assertThat(Requests.of(Map.of(PoolLabels.RETRY, "2")).retry()).contains("2");
        assertThat(Requests.of(Map.of(PoolLabels.RETRY, "")).retry()).isEmpty();
    }

    @Test
    void storageNodesToBeEmptyAreNamedWithTheirPods() {
        Requests asked = Requests.of(Map.of(PoolLabels.DRAIN, "p.worker-1=u1, a-0=u2"));
        assertThat(asked.drains()).containsOnly(Map.entry("p.worker-1", "u1"), Map.entry("a-0", "u2"));
        assertThat(asked.refused()).isEmpty();
        assertThat(Requests.of(Map.of(PoolLabels.DRAIN, Requests.text(asked.drains())))
                        .drains())
                .isEqualTo(asked.drains());
    }

    @ParameterizedTest
    @ValueSource(strings = {"a-1", "a-1=", "=u", "a-1=u=v", ""})
    void whatNamesNoPodEmptiesNothing(String entry) {
        Requests asked = Requests.of(Map.of(PoolLabels.DRAIN, "a-0=u," + entry));
        assertThat(asked.drains()).containsOnly(Map.entry("a-0", "u"));
        assertThat(asked.refused())
                .containsExactly("Annotation kvpool.dev/drain has \"" + entry
                        + "\", which is not NODE=UID with the UID of the node's pod; nothing is emptied for it.");
    }

    @Test
    void aFailoverNamesAnEpoch() {
        assertThat(Requests.of(Map.of(PoolLabels.FAILOVER, "7")).failover()).contains(7L);
        Requests asked = Requests.of(Map.of(PoolLabels.FAILOVER, "now"));
        assertThat(asked.failover()).isEmpty();
        assertThat(asked.refused())
                .containsExactly(
                        "Annotation kvpool.dev/failover is \"now\", which is no epoch of a leader; none hands over for it.");
    }

    /** What was acted on is kept in the status. */
    @Test
    void oneThatIsTooLongToBeKeptIsNamed() {
        assertThat(Requests.of(Map.of(PoolLabels.RETRY, "x".repeat(64))).retry())
                .isPresent();
        Requests asked = Requests.of(Map.of(PoolLabels.RETRY, "x".repeat(65)));
        assertThat(asked.retry()).isEmpty();
        assertThat(asked.refused())
                .containsExactly(
                        "Annotation kvpool.dev/retry has 65 characters, and may have 64; no upgrade is tried again for it.");
    }

    /** Pods are replaced in their turn because their settings differ; Kubernetes replaces agents because their template differs. */
    @Test
    void theTimeIsASettingOfThePodsOfThatRoleOnly() {
        Map<String, String> before = templates(new PoolSketch(SPEC));
        for (String role : new String[] {"master", "storage", "agent"}) {
            Map<String, String> now = templates(new PoolSketch(SPEC).annotation(PoolLabels.RESTART + "-" + role, NOON));
            Map<String, String> changed = new TreeMap<>(now);
            before.forEach((name, text) -> changed.remove(name, text));
            assertThat(changed.keySet()).as(role).allMatch(name -> name.startsWith(role));
            assertThat(changed).as(role).hasSize(role.equals("storage") ? 2 : 1);
        }
    }

    private static Map<String, String> templates(PoolSketch sketch) {
        Map<String, String> texts = new TreeMap<>();
        sketch.engine(ENGINE).plan().apply().stream()
                .flatMap(RequestsTest::template)
                .forEach(template -> texts.merge(
                        template.getMetadata().getLabels().get(PoolLabels.ROLE) + " "
                                + template.getMetadata().getLabels().get(PoolLabels.SET),
                        template.getMetadata().getAnnotations().toString(),
                        String::concat));
        return texts;
    }

    private static Stream<PodTemplateSpec> template(HasMetadata child) {
        return switch (child) {
            case StatefulSet set -> Stream.of(set.getSpec().getTemplate());
            case DaemonSet set -> Stream.of(set.getSpec().getTemplate());
            default -> Stream.empty();
        };
    }
}
