// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Agents in a namespace that admits no host directories: the pool says so, and goes on when the namespace is put right. */
class RefusingNamespaceTest {
    private static final String NAMESPACE = "refusing";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    @Test
    void agentsThatWouldGetNoPodsAreRefusedWithTheRemedy() {
        enforce("restricted");
        OPERATOR.applyEngine("agents", "{agents: {}}");
        PoolUnderTest pool =
                OPERATOR.make("demo", "{transferEngine: agents, storage: [{name: default, capacity: 1Gi}]}");

        assertThat(pool.awaitReason(Reason.NAMESPACE_REFUSES_HOST_PATH))
                .contains("and so no agents", "Set the label to privileged");
        assertThat(pool.phase()).isEqualTo(PoolPhase.INVALID);

        enforce("privileged");
        await().untilAsserted(() -> assertThat(pool.perNode("agent")).isNotNull());
    }

    private static void enforce(String level) {
        OPERATOR.client()
                .namespaces()
                .withName(NAMESPACE)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"labels\":{\"%s\":\"%s\"}}}".formatted(PoolLabels.POD_SECURITY, level));
    }
}
