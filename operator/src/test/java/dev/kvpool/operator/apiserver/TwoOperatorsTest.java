// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.OperatorBeans;
import dev.kvpool.operator.event.EventRecorder;
import dev.kvpool.operator.pool.KvCachePoolReconciler;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.javaoperatorsdk.operator.Operator;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two operators with the rights of the chart: one works, and when it reaches the API server no more, the other does. */
class TwoOperatorsTest {
    private static final String NAMESPACE = "two-operators";
    private static final String ELECTION_NAMESPACE = "kvpool-system";
    private static final Duration POLL = Duration.ofMillis(200);

    /** The Lease runs for 15 s; on a busy machine all else takes its time too. */
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private Candidate first;
    private Candidate second;
    private KubernetesClient client;

    /** One operator, the masters that only it asks, and the cable between it and the API server. */
    private static final class Candidate implements AutoCloseable {
        private final ScriptedMasters masters = new ScriptedMasters();
        private final Cable cable = new Cable();
        private final KubernetesClient restricted = ApiServer.shared().operatorClient(cable);
        private final Operator operator;

        Candidate(String name) {
            operator = new Operator(configuration -> configuration
                    .withKubernetesClient(restricted)
                    .withCloseClientOnStop(false)
                    .withLeaderElectionConfiguration(
                            // It would end this JVM, where production ends its process.
                            OperatorBeans.election(ELECTION_NAMESPACE, name).buildForTest(false)));
            InstantSource clock = InstantSource.system();
            operator.register(
                    new KvCachePoolReconciler(
                            masters,
                            OperatorUnderTest.SETTINGS,
                            new EventRecorder(restricted, clock, name),
                            clock,
                            new PollInterval(POLL, POLL)),
                    configuration -> configuration.settingNamespace(NAMESPACE));
            operator.start();
        }

        @Override
        public void close() {
            operator.stop();
            restricted.close();
        }
    }

    /** Lets requests pass until it is cut. */
    private static final class Cable implements Interceptor {
        private volatile boolean cut;

        @Override
        public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
            if (cut) {
                builder.uri(URI.create("https://127.0.0.1:1" + request.uri().getRawPath()));
            }
        }
    }

    @BeforeEach
    void start() {
        ApiServer.shared().createNamespace(NAMESPACE);
        ApiServer.shared().applyElectionRights();
        client = ApiServer.shared().client();
        first = new Candidate("operator-1");
        apply(2);
        await().atMost(LIMIT).until(() -> first.masters.questions() > 0);
        second = new Candidate("operator-2");
    }

    @AfterEach
    void stop() {
        first.close();
        second.close();
        client.close();
    }

    @Test
    void theSecondTakesOverWhenTheFirstIsCutOff() {
        long asked = first.masters.questions();
        await().atMost(LIMIT).until(() -> first.masters.questions() > asked + 3);
        assertThat(second.masters.questions())
                .as("what the second does while the first works")
                .isZero();
        assertThat(holder()).isEqualTo("operator-1");

        first.cable.cut = true;
        apply(3);

        await().atMost(LIMIT).untilAsserted(() -> assertThat(masters()).isEqualTo(3));
        assertThat(second.masters.questions()).isPositive();
        assertThat(holder()).isEqualTo("operator-2");
    }

    private void apply(int masters) {
        client.resource("""
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: shared, namespace: two-operators}
                spec: {masters: {replicas: %d}, storage: [{name: default, capacity: 1Gi}]}
                """.formatted(masters)).fieldManager("user").serverSideApply();
    }

    private int masters() {
        return client.apps()
                .statefulSets()
                .inNamespace(NAMESPACE)
                .withName("shared-master")
                .get()
                .getSpec()
                .getReplicas();
    }

    private String holder() {
        return client.leases()
                .inNamespace(ELECTION_NAMESPACE)
                .withName("kvpool-operator")
                .get()
                .getSpec()
                .getHolderIdentity();
    }
}
