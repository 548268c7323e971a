// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.operator.apiserver.ApiServer;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import org.junit.jupiter.api.Test;

/** Tokens of a real API server, with the rights of the chart. */
class ServiceAccountTokensTest {
    private static final String NAMESPACE = "kvpool-system";
    private static final String OWN = "kvpool";
    private static final Duration LIFE = Duration.ofMinutes(30);

    @Test
    void aTokenIsForOneAudienceAndAsLongAsAskedFor() throws IOException {
        account(OWN);
        try (KubernetesClient operator = ApiServer.shared().operatorClient()) {
            Instant before = Instant.now();
            TokenIssuer.Issued issued = tokens(operator, OWN).issue("one");

            assertThat(claims(issued.text()))
                    .contains("\"aud\":[\"one\"]")
                    .contains("system:serviceaccount:kvpool-system:kvpool");
            assertThat(Duration.between(before, issued.until())).isBetween(LIFE.minusSeconds(2), LIFE.plusMinutes(1));
        }
    }

    @Test
    void theChartGivesNoTokensOfOthers() {
        account("another");
        try (KubernetesClient operator = ApiServer.shared().operatorClient()) {
            ServiceAccountTokens tokens = tokens(operator, "another");

            assertThatThrownBy(() -> tokens.issue("one"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("the API server gives no token of ServiceAccount kvpool-system/another")
                    .hasMessageContaining("forbidden");
        }
    }

    @Test
    void anAccountThatIsNotThereIsNamed() {
        try (KubernetesClient admin = ApiServer.shared().client()) {
            ServiceAccountTokens tokens = tokens(admin, "missing");

            assertThatThrownBy(() -> tokens.issue("one"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("kvpool-system/missing");
        }
    }

    private static ServiceAccountTokens tokens(KubernetesClient client, String account) {
        return new ServiceAccountTokens(client, NAMESPACE, account, LIFE);
    }

    private static void account(String name) {
        ApiServer.shared().createNamespace(NAMESPACE);
        ApiServer.shared().applyElectionRights();
        try (KubernetesClient admin = ApiServer.shared().client()) {
            admin.resource(new ServiceAccountBuilder()
                            .withNewMetadata()
                            .withName(name)
                            .withNamespace(NAMESPACE)
                            .endMetadata()
                            .build())
                    .serverSideApply();
        }
    }

    private static String claims(String token) {
        return new String(Base64.getUrlDecoder().decode(token.split("\\.", -1)[1]), StandardCharsets.UTF_8);
    }
}
