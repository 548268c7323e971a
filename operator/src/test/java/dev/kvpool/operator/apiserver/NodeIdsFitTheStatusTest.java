// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.StatusCause;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The longest id that a storage node can have can be written down where an upgrade or a drain is under way. */
class NodeIdsFitTheStatusTest {
    private static final String NAMESPACE = "node-ids";

    /** Of a Kubernetes node, by the rules of Kubernetes. */
    private static final int NODE_NAME_LENGTH_MAX = 253;

    private static final String LONGEST =
            PoolNames.perNodeId("s".repeat(StorageSetSpec.NAME_LENGTH_MAX), "n".repeat(NODE_NAME_LENGTH_MAX));

    private static KubernetesClient client;
    private static KvCachePool pool;

    @BeforeAll
    static void makePool() {
        ApiServer.shared().createNamespace(NAMESPACE);
        client = ApiServer.shared().client();
        pool = client.resource(
                        client.getKubernetesSerialization().unmarshal("""
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: demo, namespace: %s}
                spec: {storage: [{name: default, capacity: 1Gi}]}
                """.formatted(NAMESPACE), KvCachePool.class))
                .create();
    }

    @AfterAll
    static void close() {
        client.close();
    }

    @Test
    void theLongestIdIsAccepted() {
        KvCachePool stored = write(LONGEST);

        assertThat(stored.getStatus().steps().getFirst().of()).isEqualTo(LONGEST);
    }

    @Test
    void aLongerOneIsNoneAndIsRefused() {
        var refusal = catchThrowableOfType(KubernetesClientException.class, () -> write(LONGEST + "n"));

        assertThat(refusal.getStatus().getDetails().getCauses())
                .extracting(StatusCause::getField)
                .contains("status.steps[0].of");
    }

    private static KvCachePool write(String node) {
        return client.resource(pool).subresource("status").patch(PatchContext.of(PatchType.JSON_MERGE), """
                {"status": {
                  "steps": [{"of": "%s", "kind": "Empty", "because": "ScaleDown", "state": "UnderWay",
                    "since": "2026-01-01T12:00:00Z"}]}}
                """.formatted(
                        node));
    }
}
