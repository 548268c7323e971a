// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ContainerPort;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pools that share a transfer engine on the network of their nodes, made at the same time, on a real API server. */
class HostNetworkPoolsTest {
    private static final String SPEC = "{transferEngine: host, storage: [{name: a, capacity: 1Gi}]}";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("host-network");

    @Test
    void noTwoPoolsHaveAPortInCommonAndTheOneTooManyIsTold() {
        OPERATOR.applyEngine("host", "{hostNetwork: true, ports: {base: 40000, count: 4}}");
        PoolUnderTest first = OPERATOR.make("first", SPEC);
        PoolUnderTest second = OPERATOR.make("second", SPEC);

        await().untilAsserted(() -> assertThat(Stream.of(first, second).flatMap(HostNetworkPoolsTest::ports))
                .containsExactlyInAnyOrder(40000, 40001, 40002, 40003));

        PoolUnderTest third = OPERATOR.make("third", SPEC);
        assertThat(third.awaitReason(Reason.PORT_RANGE_TOO_SMALL))
                .contains("ports 40000 to 40003", "count to 6 or more");

        OPERATOR.applyEngine("host", "{hostNetwork: true, ports: {base: 40000, count: 6}}");
        await().untilAsserted(() -> assertThat(ports(third)).containsExactly(40004, 40005));
    }

    private static Stream<Integer> ports(PoolUnderTest pool) {
        return Stream.ofNullable(pool.set("a"))
                .flatMap(set -> PoolUnderTest.container(set).getPorts().stream())
                .map(ContainerPort::getContainerPort);
    }
}
