// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeList;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
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
    private static final Path CASES = Path.of("src/test/resources/golden");
    private static final OperatorSettings SETTINGS =
            new OperatorSettings("registry.example/kvpool:0.1.0", "0.1.0", "kvpool-system");
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    static Stream<String> cases() throws IOException {
        try (var directories = Files.list(CASES)) {
            return directories.map(path -> path.getFileName().toString()).sorted().toList().stream();
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void childrenAreAsInTheFiles(String name) throws IOException {
        Path directory = CASES.resolve(name);
        PoolObservation seen = observation(directory);

        List<Finding> problems = PoolValidator.validate(seen);
        Map<String, String> children = files(new PoolPlanner(SETTINGS).plan(seen, problems));

        if (Boolean.getBoolean("golden.update")) {
            replace(directory, children);
        }
        assertThat(problems).isEmpty();
        assertThat(expected(directory))
                .as("golden/%s is not what the operator makes; -Dgolden.update=true writes it anew", name)
                .isEqualTo(children);
    }

    private static PoolObservation observation(Path directory) throws IOException {
        KvCachePool pool = YAML.unmarshal(Files.readString(directory.resolve("in-pool.yaml")), KvCachePool.class);
        Path engineFile = directory.resolve("in-engine.yaml");
        Optional<TransferEngine> engine = Files.exists(engineFile)
                ? Optional.of(YAML.unmarshal(Files.readString(engineFile), TransferEngine.class))
                : Optional.empty();
        return new PoolObservation(
                pool,
                engine,
                List.of(),
                pods(directory.resolve("in-pods.yaml")),
                nodes(directory.resolve("in-nodes.yaml")),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Map.of(),
                Instant.EPOCH,
                Instant.EPOCH);
    }

    private static List<ObservedNode> nodes(Path file) throws IOException {
        return Files.exists(file)
                ? YAML.unmarshal(Files.readString(file), NodeList.class).getItems().stream()
                        .map(ObservedNode::of)
                        .toList()
                : List.of();
    }

    private static List<ObservedPod> pods(Path file) throws IOException {
        return Files.exists(file)
                ? YAML.unmarshal(Files.readString(file), PodList.class).getItems().stream()
                        .map(ObservedPod::of)
                        .toList()
                : List.of();
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
