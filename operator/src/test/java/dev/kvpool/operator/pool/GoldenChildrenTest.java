// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every child of every case, compared as YAML text with a file: golden/CASE/in-pool.yaml (and in-engine.yaml, in-nodes.yaml,
 * in-pods.yaml) give golden/CASE/out-KIND-NAME.yaml. A file that nothing produces fails the test. {@code -Dgolden.update=true} writes
 * them.
 */
class GoldenChildrenTest {
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    static Stream<String> cases() throws IOException {
        return GoldenPool.names().stream();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void childrenAreAsInTheFiles(String name) throws IOException {
        GoldenPool pool = GoldenPool.of(name);
        Path directory = pool.directory();

        List<Finding> problems = pool.problems();
        Map<String, String> children = files(pool.plan());

        if (Boolean.getBoolean("golden.update")) {
            replace(directory, children);
        }
        assertThat(problems).isEmpty();
        assertThat(expected(directory))
                .as("golden/%s is not what the operator makes; -Dgolden.update=true writes it anew", name)
                .isEqualTo(children);
    }

    private static Map<String, String> files(PoolPlan plan) {
        Map<String, String> files = new TreeMap<>();
        for (HasMetadata child : plan.apply()) {
            String file = "out-%s-%s.yaml"
                    .formatted(
                            child.getKind().toLowerCase(Locale.ROOT),
                            child.getMetadata().getName());
            files.put(file, YAML.asYaml(child));
        }
        return files;
    }

    private static Map<String, String> expected(Path directory) throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (var paths = Files.list(directory)) {
            for (Path path : paths.toList()) {
                String file = path.getFileName().toString();
                if (!file.startsWith("in-")) {
                    files.put(file, Files.readString(path));
                }
            }
        }
        return files;
    }

    private static void replace(Path directory, Map<String, String> children) throws IOException {
        for (String stale : expected(directory).keySet()) {
            Files.delete(directory.resolve(stale));
        }
        for (var child : children.entrySet()) {
            Files.writeString(directory.resolve(child.getKey()), child.getValue());
        }
    }
}
