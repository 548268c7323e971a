// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pods that a namespace does not admit: the pool says so, and goes on when the namespace is put right. */
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

    /** What the controller of a StatefulSet says of a quota, a webhook or a claim, it says in an event of the StatefulSet alone. */
    @Test
    void podsThatAreNotCreatedAreToldWithTheCause() {
        PoolUnderTest pool = OPERATOR.make("quota", "{storage: [{name: a, capacity: 1Gi}]}");
        await().untilAsserted(() -> assertThat(pool.set("a")).isNotNull());
        says(
                pool,
                "FailedCreate",
                "create Pod quota-a-0 in StatefulSet quota-a failed error: pods \"quota-a-0\" is forbidden: exceeded quota: team",
                Instant.now().minusSeconds(60));

        await().untilAsserted(
                        () -> assertThat(pool.condition(ConditionType.PROGRESSING)
                                        .map(Condition::message)
                                        .orElse(""))
                                .contains(
                                        "Kubernetes cannot create pods of StatefulSet quota-a: pods \"quota-a-0\" is forbidden: exceeded quota: team."));

        says(pool, "SuccessfulCreate", "create Pod quota-a-0 in StatefulSet quota-a successful", Instant.now());

        await().untilAsserted(() -> assertThat(pool.condition(ConditionType.PROGRESSING)
                        .map(Condition::message)
                        .orElse(""))
                .doesNotContain("Kubernetes cannot create"));
    }

    private static void says(PoolUnderTest pool, String reason, String message, Instant at) {
        String time = at.truncatedTo(ChronoUnit.SECONDS).toString();
        OPERATOR.client()
                .resource(new EventBuilder()
                        .withNewMetadata()
                        .withName("of-quota-a." + reason.toLowerCase(Locale.ROOT))
                        .withNamespace(NAMESPACE)
                        .endMetadata()
                        .withNewInvolvedObject()
                        .withApiVersion("apps/v1")
                        .withKind("StatefulSet")
                        .withName("quota-a")
                        .withNamespace(NAMESPACE)
                        .withUid(pool.set("a").getMetadata().getUid())
                        .endInvolvedObject()
                        .withType("Normal")
                        .withReason(reason)
                        .withMessage(message)
                        .withFirstTimestamp(time)
                        .withLastTimestamp(time)
                        .withNewSource()
                        .withComponent("statefulset-controller")
                        .endSource()
                        .build())
                .create();
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
