// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.apiserver.ApiServer;
import dev.kvpool.operator.pool.observation.Refusal;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Events have no index: each question has the API server read all of a namespace. */
class PodRefusalsTest {
    private static final String NAMESPACE = "pod-refusals";
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");

    @Test
    void poolsOfANamespaceAskOnceInAWhile() {
        try (KubernetesClient client = ApiServer.shared().client()) {
            ApiServer.shared().createNamespace(NAMESPACE);
            PodRefusals refusals = new PodRefusals();
            HasMetadata one = lacking("one");
            HasMetadata other = lacking("other");
            refuse("one", client);
            assertThat(refusals.of(List.of(one), List.of(), client, NOW)).hasSize(1);

            refuse("other", client);

            assertThat(refusals.of(List.of(other), List.of(), client, NOW.plusSeconds(9)))
                    .isEmpty();
            assertThat(refusals.of(List.of(other), List.of(), client, NOW.plusSeconds(10)))
                    .containsExactly(new Refusal("StatefulSet other", "other-0", "exceeded quota"));
        }
    }

    /** A plan is made with the rights of the user that asks for it. */
    @Test
    void whoHasTheRoleViewKnowsThem() {
        try (KubernetesClient client = ApiServer.shared().client();
                KubernetesClient viewer = ApiServer.shared().viewerClient()) {
            ApiServer.shared().createNamespace(NAMESPACE);
            refuse("seen", client);

            assertThat(new PodRefusals().of(List.of(lacking("seen")), List.of(), viewer, NOW))
                    .hasSize(1);
        }
    }

    private static HasMetadata lacking(String name) {
        return new StatefulSetBuilder()
                .withNewMetadata()
                .withName(name)
                .withNamespace(NAMESPACE)
                .withUid("uid-" + name)
                .withCreationTimestamp(NOW.minusSeconds(60).toString())
                .endMetadata()
                .withNewSpec()
                .withReplicas(1)
                .endSpec()
                .build();
    }

    private static void refuse(String set, KubernetesClient client) {
        client.resource(new EventBuilder()
                        .withNewMetadata()
                        .withName(set)
                        .withNamespace(NAMESPACE)
                        .endMetadata()
                        .withNewInvolvedObject()
                        .withKind("StatefulSet")
                        .withName(set)
                        .withNamespace(NAMESPACE)
                        .withUid("uid-" + set)
                        .endInvolvedObject()
                        .withReason("FailedCreate")
                        .withMessage(
                                "create Pod %s-0 in StatefulSet %s failed error: exceeded quota".formatted(set, set))
                        .withLastTimestamp(NOW.toString())
                        .build())
                .create();
    }
}
