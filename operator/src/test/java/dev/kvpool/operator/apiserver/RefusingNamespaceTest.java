// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Agents in a namespace that admits no directories of nodes: the pool says so, and goes on when the namespace is put right. */
class RefusingNamespaceTest {
    private static final String NAMESPACE = "refusing";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static OperatorUnderTest operator;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE);
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void agentsThatWouldGetNoPodsAreRefusedWithTheWayOut() {
        enforce("restricted");
        operator.applyEngine("agents", "{agents: {}}");
        operator.applyPool("demo", "{transferEngine: agents, storage: [{name: default, capacity: 1Gi}]}");

        await().atMost(LIMIT).untilAsserted(() -> {
            assertThat(operator.pool("demo").getStatus()).isNotNull();
            assertThat(operator.pool("demo").getStatus().phase()).isEqualTo(PoolPhase.INVALID);
            assertThat(operator.pool("demo").getStatus().conditions())
                    .filteredOn(condition -> condition.reason().equals(Reason.NAMESPACE_REFUSES_HOST_PATH.text()))
                    .extracting(Condition::message)
                    .singleElement()
                    .asString()
                    .contains("and so no agents", "Set the label to privileged");
        });

        enforce("privileged");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(operator.client()
                                .apps()
                                .daemonSets()
                                .inNamespace(NAMESPACE)
                                .withName("demo-agent")
                                .get())
                        .isNotNull());
    }

    private static void enforce(String level) {
        operator.client()
                .namespaces()
                .withName(NAMESPACE)
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"labels\":{\"%s\":\"%s\"}}}".formatted(PoolLabels.POD_SECURITY, level));
    }
}
