// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.FieldValidateable;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;

/** The API server refuses every wrong field, with a sentence that says what is wrong. */
class SpecRulesTest {
    private static final String NAMESPACE = "spec-rules";
    private static final String POOL = """
            apiVersion: kvpool.dev/v1alpha1
            kind: KvCachePool
            metadata: {name: valid, namespace: spec-rules}
            spec: {storage: [{name: default, capacity: 1Gi}]}
            """;
    private static final String ENGINE = """
            apiVersion: kvpool.dev/v1alpha1
            kind: TransferEngine
            metadata: {name: valid, namespace: spec-rules}
            spec: {}
            """;

    private static KubernetesClient client;

    @BeforeAll
    static void connect() {
        client = ApiServer.shared().client();
        ApiServer.shared().createNamespace(NAMESPACE);
        pool("valid").create();
        engine().create();
    }

    @AfterAll
    static void disconnect() {
        client.close();
    }

    @ParameterizedTest(name = "pool {0}: {1}")
    @CsvFileSource(resources = "/spec-rules/pool.csv", delimiter = '|', nullValues = "-")
    void poolSpecIsRefused(String spec, String sentence) {
        assertRefused(pool("valid"), spec, sentence);
    }

    @ParameterizedTest(name = "engine {0}: {1}")
    @CsvFileSource(resources = "/spec-rules/engine.csv", delimiter = '|', nullValues = "-")
    void engineSpecIsRefused(String spec, String sentence) {
        assertRefused(engine(), spec, sentence);
    }

    @ParameterizedTest(name = "pool name {0}: {1}")
    @CsvFileSource(resources = "/spec-rules/pool-name.csv", delimiter = '|')
    void poolNameIsRefused(String name, String sentence) {
        var refusal = catchThrowableOfType(
                KubernetesClientException.class, () -> pool(name).create());

        assertThat(refusal).isNotNull();
        assertThat(refusal.getMessage()).contains(sentence);
    }

    /** As kubectl asks by default. Not read by the types, which would drop the field. */
    @Test
    void aMisspeltFieldIsRefusedInsteadOfIgnored() {
        GenericKubernetesResource misspelt = client.getKubernetesSerialization()
                .unmarshal(
                        POOL.replace("capacity: 1Gi", "capcity: 1Gi, capacity: 1Gi"), GenericKubernetesResource.class);

        assertThatThrownBy(() -> client.resource(misspelt)
                        .dryRun()
                        .fieldValidation(FieldValidateable.Validation.STRICT)
                        .create())
                .hasMessageContaining("unknown field \"spec.storage[0].capcity\"");
    }

    @Test
    void schemaDefaultsAreTheDefaultsOfTheTypes() {
        KvCachePool stored = client.resources(KvCachePool.class)
                .inNamespace(NAMESPACE)
                .withName("valid")
                .get();
        KvCachePool typed = client.getKubernetesSerialization().unmarshal(POOL, KvCachePool.class);

        assertThat(stored.getSpec()).isEqualTo(typed.getSpec());
    }

    @Test
    void schemaDefaultsOfAnEngineAreTheDefaultsOfTheTypes() {
        TransferEngine stored = client.resources(TransferEngine.class)
                .inNamespace(NAMESPACE)
                .withName("valid")
                .get();

        assertThat(stored.getSpec()).isEqualTo(TransferEngineSpec.DEFAULTS);
    }

    private static <T extends HasMetadata> void assertRefused(Resource<T> valid, String spec, String sentence) {
        var refusal = catchThrowableOfType(
                KubernetesClientException.class,
                () -> valid.patch(PatchContext.of(PatchType.JSON_MERGE), json("spec: " + spec)));

        assertThat(refusal).as("spec %s was accepted", spec).isNotNull();
        assertThat(refusal).hasMessageContaining(sentence);
        assertThat(refusal.getCode()).isEqualTo(422);
    }

    private static String json(String yaml) {
        var serialization = client.getKubernetesSerialization();
        return serialization.asJson(serialization.unmarshal(yaml, Map.class));
    }

    private static Resource<KvCachePool> pool(String name) {
        KvCachePool pool = client.getKubernetesSerialization().unmarshal(POOL, KvCachePool.class);
        pool.getMetadata().setName(name);
        return client.resource(pool);
    }

    private static Resource<TransferEngine> engine() {
        return client.resource(client.getKubernetesSerialization().unmarshal(ENGINE, TransferEngine.class));
    }
}
