// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.apiserver.ApiServer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import org.junit.jupiter.api.Test;

/** Only the object that was seen is deleted, never the next one of its name. */
class ExactDeletionTest {
    private static final String NAMESPACE = "exact-deletion";

    @Test
    void aPodThatWasMadeAnewMeanwhileStays() {
        try (KubernetesClient client = ApiServer.shared().client()) {
            ApiServer.shared().createNamespace(NAMESPACE);
            Pod seen = client.resource(pod()).create();
            client.resource(seen).withGracePeriod(0).delete();
            Pod next = client.resource(pod()).create();

            assertThat(ExactDeletion.delete(client, seen)).isFalse();
            assertThat(uid(client, next)).isEqualTo(next.getMetadata().getUid());

            assertThat(ExactDeletion.delete(client, next)).isTrue();
            assertThat(client.resource(next).get()).isNull();
            assertThat(ExactDeletion.delete(client, next)).isFalse();

            NetworkPolicy policy = client.resource(policy()).create();
            assertThat(ExactDeletion.delete(client, policy)).isTrue();
            assertThat(client.resource(policy).get()).isNull();
        }
    }

    private static String uid(KubernetesClient client, HasMetadata object) {
        return client.resource(object).get().getMetadata().getUid();
    }

    private static Pod pod() {
        return new PodBuilder()
                .withNewMetadata()
                .withName("demo-a-0")
                .withNamespace(NAMESPACE)
                .endMetadata()
                .withNewSpec()
                .withAutomountServiceAccountToken(false)
                .addNewContainer()
                .withName("node")
                .withImage("registry.example/kvpool:0.1.0")
                .endContainer()
                .endSpec()
                .build();
    }

    private static NetworkPolicy policy() {
        return new NetworkPolicyBuilder()
                .withNewMetadata()
                .withName("demo")
                .withNamespace(NAMESPACE)
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build();
    }
}
