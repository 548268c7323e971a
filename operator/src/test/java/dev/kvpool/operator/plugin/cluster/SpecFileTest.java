// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.storage.DataLossPolicy;
import dev.kvpool.operator.apiserver.ApiServer;
import dev.kvpool.operator.plugin.failure.PluginException;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What kubectl apply makes of a file and of an object that is there; the API server's own word for it. */
class SpecFileTest {
    private static final String MOVE = "{security: {mode: Off}, onDataLoss: Move, storage: [{name: a, capacity: 1Gi}]}";
    private static final String PLAIN = "{security: {mode: Off}, storage: [{name: a, capacity: 1Gi}]}";

    @TempDir
    Path folder;

    private KubernetesClient client;
    private String namespace;
    private Cluster cluster;

    @BeforeEach
    void open(TestInfo test) {
        namespace = "spec-file-" + Integer.toHexString(test.getDisplayName().hashCode());
        client = ApiServer.shared().client();
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(namespace)
                        .endMetadata()
                        .build())
                .create();
        cluster = new Cluster(client, namespace);
    }

    @AfterEach
    void close() {
        client.resources(KvCachePool.class).inNamespace(namespace).delete();
        client.close();
    }

    @Test
    void whatTheFileAppliedLastHadAndThisOneHasNotIsRemoved() throws IOException {
        client.resource(pool(MOVE, Map.of("kubectl.kubernetes.io/last-applied-configuration", appliedLast("""
                {"onDataLoss":"Move","security":{"mode":"Off"},"storage":[{"capacity":"1Gi","name":"a"}]}"""))))
                .create();

        assertThat(applied(PLAIN).onDataLoss()).isEqualTo(DataLossPolicy.WAIT);
        assertThat(client.resources(KvCachePool.class)
                        .inNamespace(namespace)
                        .withName("demo")
                        .get()
                        .getSpec()
                        .onDataLoss())
                .as("nothing is stored")
                .isEqualTo(DataLossPolicy.MOVE);
    }

    /** An autoscaler has set them, or a user by kubectl scale; a file that leaves them out has nothing to do with them. */
    @ParameterizedTest(name = "by apply of {0}")
    @ValueSource(strings = {"kubectl create", "the client", "the server", "another tool"})
    void whatOthersHaveSetStays(String by) throws IOException {
        KvCachePool pool = pool(PLAIN, Map.of());
        switch (by) {
            case "the server" -> client.resource(pool).fieldManager("kubectl").serverSideApply();
            case "another tool" ->
                client.resource(pool).fieldManager("kustomize-controller").serverSideApply();
            case "the client" ->
                client.resource(pool(
                                PLAIN, Map.of("kubectl.kubernetes.io/last-applied-configuration", appliedLast("""
                                        {"security":{"mode":"Off"},"storage":[{"capacity":"1Gi","name":"a"}]}"""))))
                        .create();
            default -> client.resource(pool).create();
        }
        client.resource(pool)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\": {\"replicas\": 3}, \"metadata\": {\"annotations\": {\"kvpool.dev/restart\": \"2026-01-01T00:00:00Z\"}}}");

        SpecFile file = SpecFile.of(written(PLAIN), cluster);

        KvCachePool stored = file.one(KvCachePool.class);
        assertThat(stored.getSpec().replicas()).isEqualTo(3);
        assertThat(stored.getMetadata().getAnnotations()).containsKey("kvpool.dev/restart");
    }

    /** It was applied on the server's side: what the manager had and this file has not is removed. */
    @Test
    void theManagersOwnFieldsAreRemoved() throws IOException {
        client.resource(pool(MOVE, Map.of())).fieldManager("kubectl").serverSideApply();

        assertThat(applied(PLAIN).onDataLoss()).isEqualTo(DataLossPolicy.WAIT);
    }

    /** As the options of kubectl apply say, however it was applied last. */
    @Test
    void aFileIsAppliedOnTheServersSideWhereTheOptionsSaySo() throws IOException {
        client.resource(pool(MOVE, Map.of())).fieldManager("gitops").serverSideApply();
        SpecFile file = SpecFile.of(written(PLAIN.replace("storage", "onDataLoss: Replace, storage")), cluster);

        assertThatThrownBy(() -> file.applied(new ApplyOptions(null, false)).one(KvCachePool.class))
                .isInstanceOf(PluginException.class)
                .hasMessageContaining("conflict with \"gitops\"");
        assertThat(file.applied(new ApplyOptions(null, true))
                        .one(KvCachePool.class)
                        .getSpec()
                        .onDataLoss())
                .isEqualTo(DataLossPolicy.REPLACE);
        assertThat(SpecFile.of(written(PLAIN), cluster)
                        .applied(new ApplyOptions("another", false))
                        .one(KvCachePool.class)
                        .getSpec()
                        .onDataLoss())
                .as("the field is that of gitops")
                .isEqualTo(DataLossPolicy.MOVE);
        assertThat(SpecFile.of(written(PLAIN), cluster)
                        .applied(new ApplyOptions("gitops", false))
                        .one(KvCachePool.class)
                        .getSpec()
                        .onDataLoss())
                .isEqualTo(DataLossPolicy.WAIT);
    }

    /** What kubectl applied as a client it applies on the server's side as that manager's. */
    @ParameterizedTest
    @ValueSource(strings = {"kubectl", "gitops"})
    void whatTheClientAppliedIsRemovedByKubectlOnTheServersSide(String manager) throws IOException {
        client.resource(pool(MOVE, Map.of("kubectl.kubernetes.io/last-applied-configuration", appliedLast("""
                {"onDataLoss":"Move","security":{"mode":"Off"},"storage":[{"capacity":"1Gi","name":"a"}]}"""))))
                .create();

        assertThat(SpecFile.of(written(PLAIN), cluster)
                        .applied(new ApplyOptions(manager, false))
                        .one(KvCachePool.class)
                        .getSpec()
                        .onDataLoss())
                .isEqualTo(DataLossPolicy.WAIT);
    }

    /** What the client did not apply is not its own: kubectl applies the file before it makes the rest that manager's. */
    @Test
    void anApplyOnTheServersSideIsRefusedForWhatOthersHaveSetBesideTheClient() throws IOException {
        client.resource(pool(PLAIN, Map.of("kubectl.kubernetes.io/last-applied-configuration", appliedLast("""
                {"security":{"mode":"Off"},"storage":[{"capacity":"1Gi","name":"a"}]}"""))))
                .create();
        client.resource(client.getKubernetesSerialization().unmarshal("""
                        --- {apiVersion: kvpool.dev/v1alpha1, kind: KvCachePool, metadata: {name: demo}, spec: {onDataLoss: Replace}}
                        """, GenericKubernetesResource.class))
                .inNamespace(namespace)
                .fieldManager("gitops")
                .forceConflicts()
                .serverSideApply();
        SpecFile file = SpecFile.of(written(MOVE), cluster);

        assertThatThrownBy(() -> file.applied(new ApplyOptions(null, false)).one(KvCachePool.class))
                .isInstanceOf(PluginException.class)
                .hasMessageContaining("conflict with \"gitops\"");
        assertThat(file.applied(new ApplyOptions(null, true))
                        .one(KvCachePool.class)
                        .getSpec()
                        .onDataLoss())
                .isEqualTo(DataLossPolicy.MOVE);
    }

    /** It labels what others apply, and so has applied something itself. */
    @Test
    void aToolThatAppliedNoSpecIsNotTheOneThatAppliesTheFile() throws IOException {
        client.resource(pool(PLAIN.replace("]", ", {name: b, capacity: 1Gi}]"), Map.of()))
                .create();
        client.resource(client.getKubernetesSerialization()
                        .unmarshal(
                                "--- {apiVersion: kvpool.dev/v1alpha1, kind: KvCachePool, metadata: {name: demo, labels: {team: caches}}}",
                                GenericKubernetesResource.class))
                .inNamespace(namespace)
                .fieldManager("policies")
                .serverSideApply();

        assertThat(applied(PLAIN).storage()).hasSize(1);
    }

    @Test
    void conflictsAreToldAsKubectlTellsThem() {
        client.resource(pool(PLAIN, Map.of())).fieldManager("kubectl").serverSideApply();
        client.resource(pool(PLAIN, Map.of()))
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"onDataLoss\": \"Replace\"}}");

        assertThatThrownBy(() -> applied(MOVE))
                .isInstanceOf(PluginException.class)
                .hasMessageContaining("would be refused: ")
                .hasMessageContaining("conflict");
    }

    @Test
    void ofSeveralObjectsThoseOfAKindAreFound() throws IOException {
        Path file = Files.writeString(folder.resolve("all.yaml"), """
                # first
                ---
                apiVersion: v1
                kind: Namespace
                metadata: {name: any}
                --- # a list, as kubectl get writes it
                apiVersion: v1
                kind: List
                items:
                - {apiVersion: kvpool.dev/v1alpha1, kind: TransferEngine, metadata: {name: fast}, spec: {protocols: [tcp]}}
                --- {apiVersion: kvpool.dev/v1alpha1, kind: TransferEngine, metadata: {name: slow}, spec: {protocols: [tcp]}}
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: fast, namespace: elsewhere}
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: demo}
                spec: %s
                ---
                """.formatted(PLAIN));

        SpecFile read = SpecFile.of(file, cluster);

        assertThat(read.one(KvCachePool.class).getMetadata().getName()).isEqualTo("demo");
        assertThat(read.all(TransferEngine.class))
                .extracting(engine -> engine.getMetadata().getName())
                .containsExactly("fast", "slow");
    }

    @Test
    void ofTwoOfAKindNoneIsPicked() throws IOException {
        Path one = written(PLAIN);
        Path file = Files.writeString(
                folder.resolve("two.yaml"),
                Files.readString(one) + "---\n" + Files.readString(one).replace("demo", "other"));

        assertThatThrownBy(() -> SpecFile.of(file, cluster).one(KvCachePool.class))
                .hasMessageContaining("several objects of kind KvCachePool (demo, other)");
    }

    @Test
    void whatIsNullInTheFileIsRemoved() throws IOException {
        client.resource(pool(MOVE, Map.of())).create();

        assertThat(applied(MOVE.replace("Move", "null")).onDataLoss()).isEqualTo(DataLossPolicy.WAIT);
    }

    /** As templates leave them where there is nothing to say. */
    @ParameterizedTest
    @ValueSource(strings = {"  # nothing\n", "null\n", "{}\n"})
    void documentsWithoutAnObjectAreLeftOut(String document) throws IOException {
        Path file = written(PLAIN);
        Files.writeString(file, document + "---\n" + Files.readString(file));

        assertThat(SpecFile.of(file, cluster)
                        .one(KvCachePool.class)
                        .getMetadata()
                        .getName())
                .isEqualTo("demo");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a: [", "a: b: c", "text", "[1]", "\"a"})
    void whatIsNoYamlOrNoObjectIsToldSo(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("broken.yaml"), text);

        assertThatThrownBy(() -> SpecFile.of(file, cluster))
                .isInstanceOf(PluginException.class)
                .hasMessageContaining("does not hold objects in YAML or JSON");
    }

    private KvCachePoolSpec applied(String spec) throws IOException {
        return SpecFile.of(written(spec), cluster).one(KvCachePool.class).getSpec();
    }

    private Path written(String spec) throws IOException {
        return Files.writeString(folder.resolve("file.yaml"), yaml(spec));
    }

    /** The note that kubectl leaves, which always has annotations. */
    private String appliedLast(String spec) {
        return """
                {"apiVersion":"kvpool.dev/v1alpha1","kind":"KvCachePool","metadata":{"annotations":{},"name":"demo","namespace":"%s"},"spec":%s}
                """.formatted(namespace, spec);
    }

    private static String yaml(String spec) {
        return """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: demo}
                spec: %s
                """.formatted(spec);
    }

    private KvCachePool pool(String spec, Map<String, String> annotations) {
        KvCachePool pool = client.getKubernetesSerialization().unmarshal(yaml(spec), KvCachePool.class);
        pool.getMetadata().setNamespace(namespace);
        pool.getMetadata().setAnnotations(annotations);
        return pool;
    }
}
