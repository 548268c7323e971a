// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Bounds of the JDK's server, in a process of its own: it reads them once, and here other tests make such servers too. */
@Timeout(60)
class AdminServerBoundsTest {
    private static Process process;
    private static int port;

    @BeforeAll
    static void start() throws IOException {
        process = new ProcessBuilder(ChildJvm.command(Server.class, ChildJvm.SMALL))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader said =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        port = Integer.parseInt(said.readLine());
    }

    @AfterAll
    static void stop() {
        process.destroyForcibly();
    }

    @Test
    void silentConnectionsOfOneAddressKeepNoOtherOut() throws IOException {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 300; i++) {
                silent.add(connect("127.0.0.1"));
            }
            try (Socket other = connect("127.0.0.2")) {
                assertThat(ask(other, "GET /healthz HTTP/1.1\r\nHost: m\r\nConnection: close\r\n\r\n"))
                        .startsWith("HTTP/1.1 200");
            }
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void whoSendsNothingOrHalfARequestIsCutOff() throws IOException {
        try (Socket silent = connect("127.0.0.1");
                Socket slow = connect("127.0.0.1")) {
            assertThat(ask(slow, "GET /healthz HTTP/1.1\r\nHo")).isEmpty();
            assertThat(ask(silent, "")).isEmpty();
        }
    }

    @Test
    void headersThatAreTooLongAreNotRead() throws IOException {
        try (Socket most = connect("127.0.0.1");
                Socket more = connect("127.0.0.1")) {
            assertThat(ask(most, requestWith(15 << 10))).startsWith("HTTP/1.1 200");
            assertThat(ask(more, requestWith(16 << 10))).isEmpty();
        }
    }

    private static String requestWith(int bytes) {
        return "GET /healthz HTTP/1.1\r\nHost: m\r\nConnection: close\r\nX: " + "x".repeat(bytes) + "\r\n\r\n";
    }

    private static Socket connect(String from) throws IOException {
        Socket socket = new Socket();
        socket.setSoTimeout(30_000);
        socket.bind(new InetSocketAddress(InetAddress.ofLiteral(from), 0));
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return socket;
    }

    /** All that is answered until the server closes the connection. */
    private static String ask(Socket socket, String request) throws IOException {
        try {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (SocketException e) { // reset, as what it sent was not read to its end
            return "";
        }
    }

    /** Prints its port and serves until it is ended. */
    static final class Server {
        private Server() {}

        public static void main(String[] arguments) throws IOException, InterruptedException {
            try (AdminServer server = AdminServer.start(
                    "127.0.0.1", 0, List.of(Route.get("/healthz", _ -> Response.text(200, "well"))))) {
                System.out.println(server.port());
                Thread.currentThread().join();
            }
        }
    }
}
