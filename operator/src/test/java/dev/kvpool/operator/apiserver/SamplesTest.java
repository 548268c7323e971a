// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.FieldValidateable;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The samples, on a real API server. The scenarios of e2e run the one of the demo; others may need hardware. */
class SamplesTest {
    private static final Path SAMPLES = Path.of("..", "manifests", "samples");
    private static final Pattern DOCUMENT_END = Pattern.compile("(?m)^---$");
    private static final String NAMESPACE = "samples";
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    private static KubernetesClient client;

    @BeforeAll
    static void createNamespace() {
        ApiServer.shared().createNamespace(NAMESPACE);
        client = ApiServer.shared().client();
    }

    @AfterAll
    static void close() {
        client.close();
    }

    static List<Path> samples() throws IOException {
        try (Stream<Path> files = Files.list(SAMPLES)) {
            return files.sorted().toList();
        }
    }

    static List<Path> pools() throws IOException {
        return samples().stream().filter(file -> !countedByNodes(pool(file))).toList();
    }

    /** Not read by the types, which would drop a field that is misspelt. */
    @ParameterizedTest
    @MethodSource("samples")
    void theApiServerKnowsEveryField(Path file) throws IOException {
        for (String document : documents(file).toList()) {
            GenericKubernetesResource sample = YAML.unmarshal(document, GenericKubernetesResource.class);

            assertThat(client.resource(sample)
                            .inNamespace(NAMESPACE)
                            .dryRun()
                            .fieldValidation(FieldValidateable.Validation.STRICT)
                            .create())
                    .as("%s of %s", sample.getKind(), file)
                    .isNotNull();
        }
    }

    /** {@code kubectl scale} asks the scale subresource, which has no answer where only a set's own number is there. */
    @ParameterizedTest
    @MethodSource("pools")
    void aPoolWithANumberOfStorageNodesScales(Path file) throws IOException {
        var pools = client.resources(KvCachePool.class).inNamespace(NAMESPACE);
        KvCachePool made = pools.resource(pool(file)).create();
        var resource = pools.withName(made.getMetadata().getName());
        try {
            assertThat(resource.scale().getSpec().getReplicas()).isEqualTo(2);

            resource.scale(3);

            assertThat(resource.get().getSpec().replicas()).isEqualTo(3);
            assertThat(resource.get().getSpec().storage())
                    .extracting(set -> resource.get().getSpec().replicas(set))
                    .contains(3);
        } finally {
            resource.delete();
        }
    }

    private static boolean countedByNodes(KvCachePool pool) {
        return pool.getSpec().storage().stream().allMatch(set -> set.perNode() != null);
    }

    private static Stream<String> documents(Path file) throws IOException {
        return DOCUMENT_END.splitAsStream(Files.readString(file));
    }

    private static KvCachePool pool(Path file) {
        try {
            return documents(file)
                    .filter(document -> document.contains("kind: KvCachePool"))
                    .map(document -> YAML.unmarshal(document, KvCachePool.class))
                    .findFirst()
                    .orElseThrow();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
