// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.kvpool.operator.schema.SchemaFields;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * No field is forgotten: for each one of the API the tables of {@link SpecRulesTest} have a value that the API server
 * refuses, naming that field.
 */
class EveryFieldHasARefusalTest {
    private static final Path TABLES = Path.of("src/test/resources/spec-rules");
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    @ParameterizedTest
    @CsvSource({
        "kvcachepools.kvpool.dev.yaml, KvCachePool, pool.csv, '{storage: [{name: default, capacity: 1Gi}]}'",
        "transferengines.kvpool.dev.yaml, TransferEngine, engine.csv, {}"
    })
    void everyFieldIsNamedByARefusal(String crd, String kind, String table, String base) throws IOException {
        Set<String> named = new TreeSet<>();
        try (KubernetesClient client = ApiServer.shared().client()) {
            for (String row : Files.readAllLines(TABLES.resolve(table))) {
                String spec = row.substring(0, row.lastIndexOf(" | "));
                named.addAll(namedByRefusal(client, kind, base, spec));
            }
        }

        Set<String> silent = new TreeSet<>(SchemaFields.of(crd));
        // The API server names the entry of a map and the inner field of a foreign type.
        silent.removeIf(field -> named.stream().anyMatch(name -> name.equals(field) || name.startsWith(field + ".")));

        assertThat(silent)
                .as("fields of which spec-rules/%s has no value that the API server refuses by their name", table)
                .isEmpty();
    }

    private static Set<String> namedByRefusal(KubernetesClient client, String kind, String base, String spec) {
        var refusal = catchThrowableOfType(
                KubernetesClientException.class,
                () -> client.resource(resource(kind, base, spec)).dryRun().create());
        assertThat(refusal).as("spec %s was accepted", spec).isNotNull();
        Set<String> fields = new TreeSet<>();
        for (StatusCause cause : refusal.getStatus().getDetails().getCauses()) {
            fields.add(SchemaFields.withoutIndexes(cause.getField()));
        }
        return fields;
    }

    private static GenericKubernetesResource resource(String kind, String base, String spec) {
        var resource = YAML.unmarshal(
                "--- {apiVersion: kvpool.dev/v1alpha1, kind: %s, metadata: {name: refused, namespace: default}}"
                        .formatted(kind),
                GenericKubernetesResource.class);
        Map<String, Object> merged = map(base);
        merged.putAll(map(spec));
        merged.values().removeIf(Objects::isNull);
        resource.setAdditionalProperty("spec", merged);
        return resource;
    }

    private static Map<String, Object> map(String yaml) {
        return YAML.unmarshal("--- " + yaml, new TypeReference<LinkedHashMap<String, Object>>() {});
    }
}
