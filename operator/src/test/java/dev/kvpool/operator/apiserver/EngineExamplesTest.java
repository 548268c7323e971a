// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The examples of engines are accepted by an API server, and hold what people forget. */
class EngineExamplesTest {
    private static final Path EXAMPLES = Path.of("..", "manifests", "engines");
    private static final String NAMESPACE = "engines";
    private static final String TRANSFER_CONFIG = "--kv-transfer-config=";

    @BeforeAll
    static void createNamespace() {
        ApiServer.shared().createNamespace(NAMESPACE);
    }

    static List<Path> examples() throws IOException {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            return files.sorted().toList();
        }
    }

    static List<Path> examplesAndTheProxy() throws IOException {
        List<Path> all = new ArrayList<>(examples());
        all.add(Path.of("..", "manifests", "prefill-decode", "proxy.yaml"));
        return all;
    }

    @Test
    void thereIsOneForEachEngine() throws IOException {
        assertThat(examples())
                .extracting(file -> file.getFileName().toString())
                .containsExactly("lmcache.yaml", "sglang.yaml", "vllm-ascend.yaml", "vllm.yaml");
    }

    @ParameterizedTest
    @MethodSource("examplesAndTheProxy")
    void theApiServerTakesIt(Path file) throws IOException {
        try (KubernetesClient client = ApiServer.shared().client()) {
            for (HasMetadata object : objects(client, file)) {
                assertThatCode(() -> client.resource(object)
                                .inNamespace(NAMESPACE)
                                .dryRun()
                                .create())
                        .as("%s %s", file, object.getKind())
                        .doesNotThrowAnyException();
            }
        }
    }

    /** PYTHONHASHSEED is in the ConfigMap; GoldenChildrenTest has it. */
    @ParameterizedTest
    @MethodSource("examples")
    void itKnowsThePoolByTheOperatorsConfigMapAlone(Path file) throws IOException {
        Container engine = engine(file);

        assertThat(engine.getEnvFrom())
                .singleElement()
                .satisfies(from -> assertThat(from.getConfigMapRef().getName()).endsWith("-client"));
        assertThat(engine.getEnv())
                .as("overrides of what the pool says")
                .noneMatch(variable -> variable.getName().equals("PYTHONHASHSEED")
                        || variable.getName().equals("MOONCAKE_MASTER"));
    }

    /** SGLang alone reads variables only. */
    @ParameterizedTest
    @MethodSource("examples")
    void theFileItReadsIsThatOfTheConfigMap(Path file) throws IOException {
        try (KubernetesClient client = ApiServer.shared().client()) {
            PodSpec pod =
                    deployment(objects(client, file)).getSpec().getTemplate().getSpec();
            Container engine = pod.getContainers().getFirst();
            Optional<String> path = engine.getEnv().stream()
                    .filter(variable -> variable.getName().equals("MOONCAKE_CONFIG_PATH"))
                    .map(EnvVar::getValue)
                    .findFirst();

            assertThat(path)
                    .isEqualTo(
                            switch (file.getFileName().toString()) {
                                case "sglang.yaml" -> Optional.<String>empty();
                                case "vllm-ascend.yaml" -> Optional.of("/etc/kvpool/mooncake-ascend.json");
                                default -> Optional.of("/etc/kvpool/mooncake.json");
                            });
            if (path.isPresent()) {
                assertThat(engine.getVolumeMounts())
                        .filteredOn(mount -> mount.getName().equals("kvpool"))
                        .extracting(VolumeMount::getMountPath)
                        .containsExactly("/etc/kvpool");
                assertThat(pod.getVolumes())
                        .filteredOn(volume -> volume.getName().equals("kvpool"))
                        .extracting(volume -> volume.getConfigMap().getName())
                        .containsExactly(
                                engine.getEnvFrom().getFirst().getConfigMapRef().getName());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void enginesThatCanRecomputeDo(Path file) throws IOException {
        Optional<String> config = engine(file).getArgs().stream()
                .filter(argument -> argument.startsWith(TRANSFER_CONFIG))
                .findFirst();

        assertThat(config.isPresent()).as("a vLLM").isEqualTo(!file.endsWith("sglang.yaml"));
        if (config.isPresent()) {
            JsonNode read = new ObjectMapper().readTree(config.get().substring(TRANSFER_CONFIG.length()));
            assertThat(read.path("kv_load_failure_policy").asText()).isEqualTo("recompute");
        }
    }

    /** With the comments taken away that are about the directory by which pods share memory. */
    @ParameterizedTest
    @MethodSource("examples")
    void theDirectoryOfTheSocketsCanBeMountedAtItsOwnPath(Path file) throws IOException {
        String text = Files.readString(file).replaceAll("(?m)^( *)# (- .*\\bsockets\\b.*| +hostPath: .*)$", "$1$2");
        try (KubernetesClient client = ApiServer.shared().client()) {
            Deployment engine = deployment(client.load(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))
                    .items());
            PodSpec pod = engine.getSpec().getTemplate().getSpec();
            Container container = pod.getContainers().getFirst();
            String pool = container
                    .getEnvFrom()
                    .getFirst()
                    .getConfigMapRef()
                    .getName()
                    .replace("-client", "");

            assertThat(container.getVolumeMounts())
                    .filteredOn(mount -> mount.getName().equals("sockets"))
                    .extracting(VolumeMount::getMountPath)
                    .containsExactly("/run/kvpool/inference." + pool);
            assertThat(pod.getVolumes())
                    .filteredOn(volume -> volume.getName().equals("sockets"))
                    .extracting(volume -> volume.getHostPath().getPath())
                    .containsExactly("/run/kvpool/inference." + pool);
            assertThatCode(() -> client.resource(engine)
                            .inNamespace(NAMESPACE)
                            .dryRun()
                            .create())
                    .doesNotThrowAnyException();
        }
    }

    private static Container engine(Path file) throws IOException {
        try (KubernetesClient client = ApiServer.shared().client()) {
            return deployment(objects(client, file))
                    .getSpec()
                    .getTemplate()
                    .getSpec()
                    .getContainers()
                    .getFirst();
        }
    }

    private static Deployment deployment(List<HasMetadata> objects) {
        return objects.stream()
                .filter(Deployment.class::isInstance)
                .map(Deployment.class::cast)
                .findFirst()
                .orElseThrow();
    }

    private static List<HasMetadata> objects(KubernetesClient client, Path file) throws IOException {
        try (InputStream yaml = Files.newInputStream(file)) {
            return new ArrayList<>(client.load(yaml).items());
        }
    }
}
