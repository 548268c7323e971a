// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.api.v1alpha1.KvCachePool;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** {@code kubectl scale} as a user who has the rights that the chart adds to role edit. */
class ScaleByEditorTest {
    private static final String NAMESPACE = "scale-by-editor";

    @BeforeAll
    static void createNamespace() {
        ApiServer.shared().createNamespace(NAMESPACE);
    }

    @Test
    void aPoolThatNamesNoNumberIsScaledByAnEditor() {
        try (KubernetesClient editor = ApiServer.shared().editorClient()) {
            make(editor, "plain", "{name: default, capacity: 1Gi}");
            var pool =
                    editor.resources(KvCachePool.class).inNamespace(NAMESPACE).withName("plain");

            assertThat(pool.scale().getSpec().getReplicas()).isEqualTo(1);
            pool.scale(3);

            assertThat(pool.get().getSpec().replicas()).isEqualTo(3);
        }
    }

    @Test
    void whereNoSetScalesThatIsSaid() {
        try (KubernetesClient editor = ApiServer.shared().editorClient()) {
            make(editor, "counted", "{name: default, capacity: 1Gi, replicas: 2}");
            var pool =
                    editor.resources(KvCachePool.class).inNamespace(NAMESPACE).withName("counted");

            assertThatThrownBy(() -> pool.scale(3))
                    .isInstanceOf(KubernetesClientException.class)
                    .hasMessageContaining(
                            "replicas is for the one storage set that names neither replicas nor perNode");
        }
    }

    private static void make(KubernetesClient editor, String name, String set) {
        editor.resource("""
                        apiVersion: kvpool.dev/v1alpha1
                        kind: KvCachePool
                        metadata: {name: %s}
                        spec: {storage: [%s]}
                        """.formatted(name, set)).inNamespace(NAMESPACE).create();
    }
}
