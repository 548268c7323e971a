// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.ConfigMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Storage pods that are drained or not made again yet are storage nodes by their ServiceAccount, whatever the spec says now. */
class PresentPodsKeepTheirRoleTest {
    private static final String BEFORE =
            "storage: [{name: a, capacity: 1Gi}, {name: each, capacity: 1Gi, perNode: {}}]";
    private static final String AFTER =
            "storage: [{name: a, capacity: 1Gi, podTemplate: {serviceAccountName: chosen}}]";

    private static String named(String storage) {
        return DirectorySpec.named("cluster.local").replace("storage: [{name: a, capacity: 1Gi}]", storage);
    }

    private static String enrolled(String storage) {
        return "{security: {mode: Required}, transferEngine: demo, " + storage + "}";
    }

    private static PoolSketch sketch(String spec) {
        return new PoolSketch(spec).engine("{}").node("worker", Map.of());
    }

    /** The same pool with another spec, and what is left of it. */
    private static PoolSketch changed(String before, String after) {
        return sketch(after).of(sketch(before).madeBy(PoolSketch.SETTINGS));
    }

    private static List<String> lines(PoolSketch sketch, String map, String key) {
        return sketch.plan().apply().stream()
                .filter(ConfigMap.class::isInstance)
                .map(ConfigMap.class::cast)
                .filter(child -> child.getMetadata().getName().equals(map))
                .flatMap(child -> child.getData().get(key).lines())
                .toList();
    }

    @Test
    void theNamesOfOthersHaveThemUntilTheyHaveGone() {
        assertThat(lines(changed(named(BEFORE), named(AFTER)), "demo-identity", "names"))
                .contains("ns/chosen node", "ns/demo-storage node", "ns/demo-storage-each node")
                .doesNotContain("ns/demo-storage none");

        assertThat(lines(sketch(named(AFTER)), "demo-identity", "names"))
                .contains("ns/chosen node", "ns/demo-storage none", "ns/* tenant default rw")
                .doesNotContain("ns/demo-storage node", "ns/demo-storage-each node");
    }

    @Test
    void theRulesOfEnrolmentHaveThemUntilTheyHaveGone() {
        assertThat(lines(changed(enrolled(BEFORE), enrolled(AFTER)), "demo-pool", "enrolment"))
                .contains("ns/chosen node", "ns/demo-storage node", "ns/demo-storage-each node each");

        assertThat(lines(sketch(enrolled(AFTER)), "demo-pool", "enrolment"))
                .contains("ns/chosen node", "ns/demo-storage none")
                .doesNotContain("ns/demo-storage-each node each");
    }

    @Test
    void anAccountOfPodsThatAreThereIsNoTenants() {
        for (boolean isNamed : List.of(true, false)) {
            String before = isNamed ? named(BEFORE) : enrolled(BEFORE);
            String after = (isNamed ? named(AFTER) : enrolled(AFTER))
                    .replace(
                            "{security",
                            "{tenants: [{name: chat, serviceAccounts: [{namespace: ns, name: demo-storage-each}]}], security");
            assertThat(problems(changed(before, after)))
                    .singleElement()
                    .satisfies(problem -> assertThat(problem.message())
                            .contains(
                                    "ns/demo-storage-each would be node",
                                    "and tenant chat rw",
                                    "until they have gone"));
            assertThat(problems(sketch(after))).isEmpty();
        }
    }

    /** Then the spec could not be carried out before they have gone, and they do not go before it is. */
    @ParameterizedTest
    @ValueSource(strings = {"perNode: {}", "replicas: 1"})
    void storageNodesMayHaveTheAccountOfThoseBefore(String form) {
        String before = "storage: [{name: a, capacity: 1Gi, perNode: {}, podTemplate: {serviceAccountName: chosen}}]";
        String after =
                "storage: [{name: b, capacity: 1Gi, %s, podTemplate: {serviceAccountName: chosen}}]".formatted(form);

        assertThat(problems(changed(named(before), named(after)))).isEmpty();
        assertThat(problems(changed(enrolled(before), enrolled(after)))).isEmpty();
    }

    /** Without a certificate an account says nothing, and may be that of others. */
    @Test
    void plainPodsGiveTheirAccountNoRole() {
        String off = "{security: {mode: \"Off\"}, transferEngine: demo, "
                + "storage: [{name: a, capacity: 1Gi, podTemplate: {serviceAccountName: plain}}]}";

        assertThat(lines(changed(off, enrolled(AFTER)), "demo-pool", "enrolment"))
                .contains("ns/chosen node")
                .noneMatch(line -> line.startsWith("ns/plain"));
    }

    private static List<Finding> problems(PoolSketch sketch) {
        return PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS);
    }
}
