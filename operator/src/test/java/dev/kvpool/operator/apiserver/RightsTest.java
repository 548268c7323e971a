// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the chart's role does not allow. That it allows enough is shown by all tests that run the operator with it. */
class RightsTest {
    static Stream<Consumer<KubernetesClient>> forbidden() {
        return Stream.of(
                client -> client.secrets().inNamespace("default").list(),
                client ->
                        client.secrets().inNamespace("default").withName("any").get(),
                client ->
                        client.secrets().inNamespace("default").withName("any").delete(),
                client -> client.namespaces().list(),
                client -> client.nodes().withName("any").delete(),
                client -> client.rbac().clusterRoles().list());
    }

    @ParameterizedTest
    @MethodSource("forbidden")
    void theApiServerForbids(Consumer<KubernetesClient> action) {
        try (KubernetesClient client = ApiServer.shared().operatorClient()) {
            var refusal = catchThrowableOfType(KubernetesClientException.class, () -> action.accept(client));

            assertThat(refusal).isNotNull();
            assertThat(refusal.getCode()).isEqualTo(403);
        }
    }

    @Test
    void leasesCanBeRead() {
        try (KubernetesClient client = ApiServer.shared().operatorClient()) {
            assertThat(client.leases().inNamespace("default").list().getItems()).isEmpty();
        }
    }
}
