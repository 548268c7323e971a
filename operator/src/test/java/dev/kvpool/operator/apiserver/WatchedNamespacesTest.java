// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.OperatorBeans;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An operator with the rights that the chart gives it with watchNamespaces runs pools there, asks for nothing more, and sees no other. */
class WatchedNamespacesTest {
    private static final Path RIGHTS = Path.of("src/test/resources/rights-in-namespaces.yaml");
    private static final String OWN_NAMESPACE = "kvpool-scoped";
    private static final String USER = "system:serviceaccount:%s:scoped-kvpool".formatted(OWN_NAMESPACE);
    private static final String WATCHED = "scoped-a";
    private static final String ALSO_WATCHED = "scoped-b";
    private static final String OTHER = "scoped-c";
    private static final int LOOKS = 20;
    private static final String NODE = "scoped-node";

    private final Requests requests = new Requests();
    private KubernetesClient restricted;
    private OperatorUnderTest operator;

    /** Which rights were needed, and what was refused. */
    private static final class Requests implements Interceptor {
        private final RequestedRights rights = new RequestedRights();
        private final List<String> refused = new CopyOnWriteArrayList<>();

        @Override
        public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
            rights.before(builder, request, tags);
        }

        @Override
        public void after(
                HttpRequest request, HttpResponse<?> response, AsyncBody.Consumer<List<ByteBuffer>> consumer) {
            if (response.code() == HttpURLConnection.HTTP_FORBIDDEN) {
                refused.add(request.method() + " " + request.uri());
            }
        }
    }

    @BeforeEach
    void start() throws IOException {
        List.of(OWN_NAMESPACE, WATCHED, ALSO_WATCHED, OTHER).forEach(ApiServer.shared()::createNamespace);
        try (KubernetesClient client = ApiServer.shared().client();
                InputStream rights = Files.newInputStream(RIGHTS)) {
            client.load(rights).items().forEach(item -> client.resource(item).serverSideApply());
        }
        restricted = ApiServer.shared().clientOf(USER, requests);
        operator = OperatorUnderTest.in(WATCHED, ALSO_WATCHED)
                .reaching(restricted, requests.rights)
                .configured(overrider -> overrider.withLeaderElectionConfiguration(
                        OperatorBeans.election(OWN_NAMESPACE, "operator").buildForTest(false)))
                .start();
    }

    @AfterEach
    void stop() {
        operator.close();
    }

    @Test
    void poolsRunInTheWatchedNamespacesAndNowhereElse() {
        assertThatThrownBy(() -> restricted
                        .resources(KvCachePool.class)
                        .inNamespace(OTHER)
                        .list())
                .as("what this operator may not see")
                .isInstanceOf(KubernetesClientException.class);
        requests.refused.clear();
        Set<String> before = requests.rights.in(OTHER);
        operator.cluster().addNode(NODE, Map.of("scoped", "yes"));
        PoolUnderTest other = pool(OTHER);
        PoolUnderTest watched = pool(WATCHED);

        watched.awaitChildren(17);
        pool(ALSO_WATCHED).awaitChildren(17);
        watched.runOn("each", NODE).awaitPhase(PoolPhase.READY);
        assertThat(operator.cluster().isLabelledLeader("demo-master-0")).isTrue();
        await().until(() -> !watched.events().isEmpty());
        long looked = operator.masters().questions() + LOOKS;
        await().until(() -> operator.masters().questions() >= looked);

        assertThat(other.status()).isNull();
        assertThat(other.get().getMetadata().getFinalizers()).isEmpty();
        assertThat(other.children()).isEmpty();
        assertThat(other.events()).isEmpty();
        assertThat(requests.rights.in(OTHER)).as("what was asked there").isEqualTo(before);
        assertThat(requests.refused).as("rights that the chart does not give").isEmpty();
    }

    private PoolUnderTest pool(String namespace) {
        operator.apply(namespace, "engine", "{}", TransferEngine.class);
        return operator.poolIn(namespace, "demo").apply("""
                {transferEngine: engine, storage: [
                  {name: default, capacity: 1Gi},
                  {name: each, capacity: 1Gi, perNode: {nodeSelector: {scoped: "yes"}},
                    volume: {type: hostPath, path: /dev/shm/kvpool}}]}""");
    }
}
