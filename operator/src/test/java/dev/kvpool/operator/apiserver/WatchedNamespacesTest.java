// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.OperatorBeans;
import dev.kvpool.operator.engine.TransferEngineReconciler;
import dev.kvpool.operator.event.EventRecorder;
import dev.kvpool.operator.pool.KvCachePoolReconciler;
import dev.kvpool.operator.pool.gone.GonePoolReconciler;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.AsyncBody;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.javaoperatorsdk.operator.Operator;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
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
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(100);
    private static final int LOOKS = 20;
    private static final String NODE = "scoped-node";

    private final Requests requests = new Requests();
    private final ScriptedMasters masters = new ScriptedMasters();
    private KubernetesClient client;
    private KubernetesClient restricted;
    private Operator operator;

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
        client = ApiServer.shared().client();
        try (InputStream rights = Files.newInputStream(RIGHTS)) {
            client.load(rights).items().forEach(item -> client.resource(item).serverSideApply());
        }
        restricted = ApiServer.shared().clientOf(USER, requests);
        operator = new Operator(configuration -> configuration
                .withKubernetesClient(restricted)
                .withCloseClientOnStop(false)
                .withLeaderElectionConfiguration(
                        OperatorBeans.election(OWN_NAMESPACE, "operator").buildForTest(false)));
        InstantSource clock = InstantSource.system();
        Set<String> watched = Set.of(WATCHED, ALSO_WATCHED);
        operator.register(
                new KvCachePoolReconciler(
                        masters,
                        OperatorUnderTest.SETTINGS,
                        new EventRecorder(restricted, clock, "test"),
                        clock,
                        new PollInterval(POLL, POLL)),
                configuration -> configuration.settingNamespaces(watched));
        operator.register(
                new TransferEngineReconciler(clock), configuration -> configuration.settingNamespaces(watched));
        operator.register(
                new GonePoolReconciler(OperatorUnderTest.SETTINGS, new EventRecorder(restricted, clock, "test")),
                configuration -> configuration.settingNamespaces(watched));
        operator.start();
    }

    @AfterEach
    void stop() {
        operator.stop();
        restricted.close();
        client.nodes().withName(NODE).delete();
        client.close();
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
        Set<String> other = requests.rights.in(OTHER);
        ClusterActor cluster = new ClusterActor(client, WATCHED);
        cluster.addNode(NODE, Map.of("scoped", "yes"));
        apply(OTHER);

        apply(WATCHED);
        apply(ALSO_WATCHED);

        await().atMost(LIMIT).until(() -> Children.of(client, WATCHED, "demo").size() == 17);
        await().atMost(LIMIT)
                .until(() -> Children.of(client, ALSO_WATCHED, "demo").size() == 17);
        cluster.runPodsOf("demo-master");
        cluster.runPodsOf("demo-default");
        cluster.runPodOn("demo-each", NODE);
        masters.say(
                "demo-master-0",
                ScriptedMasters.leader("demo-master-0", 1, 0, List.of("demo-default-0", "each." + NODE)));
        cluster.takeLease("demo-master", "demo-master-0", 1);
        await().atMost(LIMIT).until(() -> phase(WATCHED) == PoolPhase.READY);
        assertThat(cluster.isLabelledLeader("demo-master-0")).isTrue();
        await().atMost(LIMIT).until(() -> !events(WATCHED).isEmpty());
        long looked = masters.questions() + LOOKS;
        await().atMost(LIMIT).until(() -> masters.questions() >= looked);

        assertThat(pool(OTHER).getStatus()).isNull();
        assertThat(pool(OTHER).getMetadata().getFinalizers()).isEmpty();
        assertThat(Children.of(client, OTHER, "demo")).isEmpty();
        assertThat(events(OTHER)).isEmpty();
        assertThat(requests.rights.in(OTHER)).as("what was asked there").isEqualTo(other);
        assertThat(requests.refused).as("rights that the chart does not give").isEmpty();
    }

    private void apply(String namespace) {
        String yaml = """
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: engine, namespace: %1$s}
                spec: {}
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: demo, namespace: %1$s}
                spec:
                  transferEngine: engine
                  storage:
                    - {name: default, capacity: 1Gi}
                    - {name: each, capacity: 1Gi, perNode: {nodeSelector: {scoped: "yes"}},
                       volume: {type: hostPath, path: /dev/shm/kvpool}}
                """.formatted(namespace);
        client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8)))
                .items()
                .forEach(item -> client.resource(item).fieldManager("user").serverSideApply());
    }

    private KvCachePool pool(String namespace) {
        return client.resources(KvCachePool.class)
                .inNamespace(namespace)
                .withName("demo")
                .get();
    }

    private PoolPhase phase(String namespace) {
        return pool(namespace).getStatus().phase();
    }

    private List<Event> events(String namespace) {
        return client.resources(Event.class).inNamespace(namespace).list().getItems();
    }
}
