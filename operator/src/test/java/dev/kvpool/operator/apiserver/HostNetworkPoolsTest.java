// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ContainerPort;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Pools that share a transfer engine on the network of their nodes, made at the same time, on a real API server. */
class HostNetworkPoolsTest {
    private static final String NAMESPACE = "host-network";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String SPEC = "{transferEngine: host, storage: [{name: a, capacity: 1Gi}]}";

    private static OperatorUnderTest operator;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE);
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void noTwoPoolsHaveAPortInCommonAndTheOneTooManyIsTold() {
        operator.applyEngine("host", "{hostNetwork: true, ports: {base: 40000, count: 4}}");
        operator.applyPool("first", SPEC);
        operator.applyPool("second", SPEC);

        await().atMost(LIMIT)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(union(ports("first"), ports("second")))
                        .containsExactlyInAnyOrder(40000, 40001, 40002, 40003));

        operator.applyPool("third", SPEC);
        await().atMost(LIMIT)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(
                                operator.pool("third").getStatus().conditions())
                        .anySatisfy(condition -> {
                            assertThat(condition.reason()).isEqualTo(Reason.PORT_RANGE_TOO_SMALL.text());
                            assertThat(condition.message()).contains("ports 40000 to 40003", "count to 6 or more");
                        }));

        operator.applyEngine("host", "{hostNetwork: true, ports: {base: 40000, count: 6}}");
        await().atMost(LIMIT)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(ports("third")).containsExactly(40004, 40005));
    }

    private static Set<Integer> union(List<Integer> one, List<Integer> other) {
        Set<Integer> all = new HashSet<>(one);
        all.addAll(other);
        return all;
    }

    private static List<Integer> ports(String pool) {
        return operator
                .client()
                .apps()
                .statefulSets()
                .inNamespace(NAMESPACE)
                .withName(pool + "-a")
                .get()
                .getSpec()
                .getTemplate()
                .getSpec()
                .getContainers()
                .getFirst()
                .getPorts()
                .stream()
                .map(ContainerPort::getContainerPort)
                .toList();
    }
}
