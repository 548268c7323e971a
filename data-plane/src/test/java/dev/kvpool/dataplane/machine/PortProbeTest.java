// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PortProbeTest {
    @Test
    void aPortInUseIsToldWithItsUserAndFlag() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();

            assertThat(PortProbe.problems(
                            "127.0.0.1", Map.of(port, List.of("master-0 (--master-port)")), Duration.ZERO))
                    .singleElement()
                    .asString()
                    .contains("port " + port, "master-0 (--master-port)", "in use");
        }
    }

    @Test
    void freePortsAreNoProblem() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }

        assertThat(PortProbe.problems("127.0.0.1", Map.of(port, List.of("x")), Duration.ZERO))
                .isEmpty();
    }

    @Test
    void anAddressThatIsNotOursIsTold() throws Exception {
        assertThat(PortProbe.problems("192.0.2.1", Map.of(50051, List.of("master-0 (--master-port)")), Duration.ZERO))
                .singleElement()
                .asString()
                .contains("192.0.2.1");
    }
}
