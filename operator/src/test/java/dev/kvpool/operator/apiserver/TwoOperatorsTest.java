// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.OperatorBeans;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import java.net.URI;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two operators with the rights of the chart: one works, and when it reaches the API server no more, the other does. */
class TwoOperatorsTest {
    private static final String NAMESPACE = "two-operators";
    private static final String ELECTION_NAMESPACE = "kvpool-system";

    private final Cable cable = new Cable();
    private OperatorUnderTest first;
    private OperatorUnderTest second;

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
        ApiServer.shared().applyElectionRights();
        first = candidate("operator-1", cable);
        apply(2);
        await().until(() -> first.masters().questions() > 0);
        second = candidate("operator-2", new Interceptor() {});
    }

    @AfterEach
    void stop() {
        first.close();
        second.close();
    }

    @Test
    void theSecondTakesOverWhenTheFirstIsCutOff() {
        long asked = first.masters().questions();
        await().until(() -> first.masters().questions() > asked + 3);
        assertThat(second.masters().questions())
                .as("what the second does while the first works")
                .isZero();
        assertThat(holder()).isEqualTo("operator-1");

        cable.cut = true;
        PoolUnderTest pool = apply(3);

        await().untilAsserted(
                        () -> assertThat(pool.masters().getSpec().getReplicas()).isEqualTo(3));
        assertThat(second.masters().questions()).isPositive();
        assertThat(holder()).isEqualTo("operator-2");
    }

    /** One operator, and the masters that only it asks. */
    private static OperatorUnderTest candidate(String name, Interceptor way) {
        return OperatorUnderTest.in(NAMESPACE)
                .reaching(ApiServer.shared().operatorClient(way), new RequestedRights())
                // Where it no longer leads it would end this JVM, as production ends its process.
                .configured(overrider -> overrider.withLeaderElectionConfiguration(
                        OperatorBeans.election(ELECTION_NAMESPACE, name).buildForTest(false)))
                .start();
    }

    private PoolUnderTest apply(int masters) {
        return first.make(
                "shared", "{masters: {replicas: %d}, storage: [{name: default, capacity: 1Gi}]}".formatted(masters));
    }

    private String holder() {
        return first.client()
                .leases()
                .inNamespace(ELECTION_NAMESPACE)
                .withName("kvpool-operator")
                .get()
                .getSpec()
                .getHolderIdentity();
    }
}
