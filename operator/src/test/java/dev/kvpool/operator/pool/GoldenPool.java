// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.PoolPlanner;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.NodeList;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** A pool and what is around it, as it stands in the in-*.yaml files of a directory in golden/. */
record GoldenPool(Path directory) {
    static final Path ALL = Path.of("src/test/resources/golden");
    private static final OperatorSettings SETTINGS =
            new OperatorSettings("registry.example/kvpool:0.1.0", "0.1.0", "kvpool-system");
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    static List<String> names() throws IOException {
        try (var entries = Files.list(ALL)) {
            return entries.filter(Files::isDirectory)
                    .map(path -> path.getFileName().toString())
                    .sorted()
                    .toList();
        }
    }

    static GoldenPool of(String name) {
        return new GoldenPool(ALL.resolve(name));
    }

    List<Finding> problems() throws IOException {
        return PoolValidator.validate(observation(), SETTINGS);
    }

    PoolPlan plan() throws IOException {
        return new PoolPlanner(SETTINGS).plan(observation(), problems());
    }

    /** All that the user gives pods, whatever their role. */
    List<PodTemplate> podTemplates() throws IOException {
        KvCachePool pool = pool();
        List<PodTemplate> templates = new ArrayList<>();
        templates.add(pool.getSpec().masters().podTemplate());
        pool.getSpec().storage().forEach(set -> templates.add(set.podTemplate()));
        engineSpecs().stream()
                .map(TransferEngineSpec::agents)
                .filter(Objects::nonNull)
                .forEach(agents -> templates.add(agents.podTemplate()));
        return templates;
    }

    List<TransferEngineSpec> engineSpecs() throws IOException {
        return engines().stream().map(TransferEngine::getSpec).toList();
    }

    private KvCachePool pool() throws IOException {
        return YAML.unmarshal(Files.readString(directory.resolve("in-pool.yaml")), KvCachePool.class);
    }

    private PoolObservation observation() throws IOException {
        KvCachePool pool = pool();
        return new PoolObservation(
                pool,
                engines(),
                List.copyOf(ActiveTrust.of(pool)),
                pods(directory.resolve("in-pods.yaml")),
                List.of(),
                new PoolObservation.Surroundings(
                        nodes(directory.resolve("in-nodes.yaml")), List.of(), Optional.empty()),
                PoolObservation.Masters.unasked(Optional.empty()),
                Instant.EPOCH,
                Instant.EPOCH);
    }

    private List<TransferEngine> engines() throws IOException {
        try (var files = Files.newDirectoryStream(directory, "in-engine*.yaml")) {
            List<TransferEngine> engines = new ArrayList<>();
            for (Path file : files) {
                engines.add(YAML.unmarshal(Files.readString(file), TransferEngine.class));
            }
            engines.sort(Comparator.comparing(engine -> engine.getMetadata().getName()));
            return engines;
        }
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
}
