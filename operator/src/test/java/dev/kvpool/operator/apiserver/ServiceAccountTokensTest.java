// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.operator.master.http.ServiceAccountTokens;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tokens of a real API server, with the rights of the chart. */
class ServiceAccountTokensTest {
    private static final String NAMESPACE = "kvpool-system";
    private static final String OWN = "kvpool";
    private static final int ASKERS = 8;

    @Test
    void aTokenIsForOneAudienceAndUsedUntilItIsOld() throws IOException {
        account(OWN);
        try (KubernetesClient operator = ApiServer.shared().operatorClient()) {
            AtomicReference<Instant> now = new AtomicReference<>(Instant.now());
            ServiceAccountTokens tokens =
                    new ServiceAccountTokens(operator, NAMESPACE, OWN, ServiceAccountTokens.SHORTEST_LIFE, now::get);

            String first = tokens.token("one");
            assertThat(claims(first))
                    .contains("\"aud\":[\"one\"]")
                    .contains("system:serviceaccount:kvpool-system:kvpool");
            assertThat(claims(tokens.token("two"))).contains("\"aud\":[\"two\"]");
            now.updateAndGet(time -> time.plus(Duration.ofMinutes(7)));
            assertThat(tokens.token("one")).isEqualTo(first);
            now.updateAndGet(time -> time.plus(Duration.ofMinutes(2)));
            assertThat(tokens.token("one")).isNotEqualTo(first);
        }
    }

    @Test
    void allWhoAskAtOnceGetTheSame() {
        account(OWN);
        try (KubernetesClient operator = ApiServer.shared().operatorClient()) {
            ServiceAccountTokens tokens = new ServiceAccountTokens(
                    operator, NAMESPACE, OWN, ServiceAccountTokens.SHORTEST_LIFE, Instant::now);
            CyclicBarrier all = new CyclicBarrier(ASKERS);
            List<Future<String>> got;
            try (ExecutorService threads = Executors.newFixedThreadPool(ASKERS)) {
                got = IntStream.range(0, ASKERS)
                        .mapToObj(asker -> threads.submit(() -> {
                            all.await();
                            return tokens.token("shared");
                        }))
                        .toList();
            }

            assertThat(got.stream().map(Future::resultNow).distinct()).hasSize(1);
        }
    }

    @Test
    void theChartGivesNoTokensOfOthers() {
        account("another");
        try (KubernetesClient operator = ApiServer.shared().operatorClient()) {
            ServiceAccountTokens tokens = new ServiceAccountTokens(
                    operator, NAMESPACE, "another", ServiceAccountTokens.SHORTEST_LIFE, Instant::now);

            assertThatThrownBy(() -> tokens.token("one"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("the API server gives no token of ServiceAccount kvpool-system/another")
                    .hasMessageContaining("forbidden");
        }
    }

    @Test
    void anAccountThatIsNotThereIsNamed() {
        try (KubernetesClient admin = ApiServer.shared().client()) {
            ServiceAccountTokens tokens = new ServiceAccountTokens(
                    admin, NAMESPACE, "missing", ServiceAccountTokens.SHORTEST_LIFE, Instant::now);

            assertThatThrownBy(() -> tokens.token("one"))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("kvpool-system/missing");
        }
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
