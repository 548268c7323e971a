// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.kvpool.dataplane.config.HostPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AdminCallerTest {
    private static final Duration LONG = Duration.ofSeconds(10);

    private HttpServer server;
    private HostPort admin;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.start();
        admin = HostPort.parse("127.0.0.1:" + server.getAddress().getPort());
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void anAnswerHasItsTextAndTheOthersClock() throws IOException {
        answerWith(200, new byte[] {'o', 'k'});
        Instant before = Instant.now().minusSeconds(2);

        AdminAnswer answer = AdminCaller.PLAIN.get(admin, "/x", LONG, LONG);

        assertThat(answer.isOk()).isTrue();
        assertThat(answer.body()).isEqualTo("ok");
        assertThat(answer.date()).hasValueSatisfying(date -> assertThat(date).isBetween(before, Instant.now()));
    }

    @Test
    void anErrorIsAnAnswerAsWell() throws IOException {
        answerWith(503, new byte[] {'n', 'o'});

        assertThat(AdminCaller.PLAIN.get(admin, "/x", LONG, LONG))
                .satisfies(answer -> assertThat(answer.isOk()).isFalse())
                .satisfies(answer -> assertThat(answer.status()).isEqualTo(503))
                .satisfies(answer -> assertThat(answer.body()).isEqualTo("no"));
    }

    @Test
    void anAnswerWithoutEndIsRefusedWithItsBound() {
        answerWith(200, new byte[(4 << 20) + 1]);

        assertThatThrownBy(() -> AdminCaller.PLAIN.get(admin, "/x", LONG, LONG))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("4194304");
    }

    @Test
    void aServerThatSaysNothingIsLeftInTime() throws IOException {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            HostPort address = HostPort.parse("127.0.0.1:" + silent.getLocalPort());

            assertThatThrownBy(() -> AdminCaller.PLAIN.get(address, "/x", LONG, Duration.ofMillis(50)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("timed out");
        }
    }

    @Test
    void nobodyThereIsToldSo() {
        server.stop(0);

        assertThatThrownBy(() -> AdminCaller.PLAIN.get(admin, "/x", LONG, LONG))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("refused");
    }

    private void answerWith(int status, byte[] body) {
        server.createContext("/x", exchange -> {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
    }
}
