// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.master.PoolReport;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever a master answers, or does not, becomes a report or a sentence. */
class HttpMasterClientTest {
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final String HOST = "127.0.0.1";
    private static final MasterEndpoint MASTER = MasterEndpoint.plain(HOST);

    private HttpServer server;
    private ExecutorService threads;
    private final CountDownLatch end = new CountDownLatch(1);

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        threads = Executors.newCachedThreadPool();
        server.setExecutor(threads);
        server.start();
    }

    @AfterEach
    void stop() {
        end.countDown();
        server.stop(0);
        threads.close();
    }

    @Test
    void aReportIsRead() {
        answer(200, """
                {"poolId":"p","name":"demo-master-0","role":"leader","state":"serving","epoch":7,"news":{"unknown":1},
                 "version":{"product":"0.1.0","wire":{"min":1,"max":1}},
                 "capacityBytes":1024,"usedBytes":12,"objects":3,"nodes":[
                   {"id":"demo-default-0","state":"ready","reason":"","transient":false,"usedBytes":12,"objects":3,
                    "product":"0.1.0","protocols":["tcp","shm"],"address":"10.0.0.1:50061"},
                   {"id":"x","state":"refused","reason":"wire 2 does not fit 1","transient":true}]}
                """);

        MasterAnswer answer = ask();

        assertThat(answer).isInstanceOfSatisfying(MasterAnswer.Report.class, said -> {
            assertThat(said.report().leads()).isTrue();
            assertThat(said.report().version().product()).isEqualTo("0.1.0");
            assertThat(said.report().nodes()).hasSize(2);
            assertThat(said.report().nodes().getFirst().ready()).isTrue();
            assertThat(said.report().nodes().getLast().refused()).isTrue();
            assertThat(said.report().nodes().getLast().isTransient()).isTrue();
            assertThat(said.report().nodes().getLast().build().protocols()).isEmpty();
        });
    }

    @Test
    void standbysAreToldOfALeaderThatIsGone() {
        List<String> asked = new CopyOnWriteArrayList<>();
        server.createContext("/", exchange -> {
            asked.add(exchange.getRequestMethod() + " "
                    + exchange.getRequestURI().getRawPath() + "?"
                    + exchange.getRequestURI().getRawQuery());
            exchange.sendResponseHeaders(202, -1);
            exchange.close();
        });
        HttpMasterClient client = client(server.getAddress().getPort());

        client.leaderGone(
                List.of(MasterEndpoint.plain(HOST), MasterEndpoint.plain("::1")),
                "m-0_0123456789abcdef",
                7,
                "[fd00::1]:50051");

        assertThat(asked)
                .containsExactly("POST /api/v1/leader_gone?holder=m-0_0123456789abcdef&epoch=7"
                        + "&address=%5Bfd00%3A%3A1%5D%3A50051");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "503 | {}           | it answered with HTTP status 503",
                "200 | hello        | its answer is not a pool report",
                "200 | [1, 2]       | its answer is not a pool report",
                "200 | {\"epoch\":  | its answer is not a pool report",
                "200 | {\"epoch\": \"many\"} | its answer is not a pool report",
            })
    void aBadAnswerIsNamed(int status, String body, String sentence) {
        answer(status, body);

        assertThat(ask())
                .isInstanceOfSatisfying(
                        MasterAnswer.Silent.class,
                        silent -> assertThat(silent.reason()).contains(sentence));
    }

    @Test
    void anEndlessAnswerIsCutOff() {
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] blanks = " ".repeat(1 << 16).getBytes(StandardCharsets.UTF_8);
            try (OutputStream body = exchange.getResponseBody()) {
                while (end.getCount() > 0) {
                    body.write(blanks);
                }
            } catch (IOException closed) {
                exchange.close();
            }
        });

        assertThat(ask()).isEqualTo(new MasterAnswer.Silent("the connection failed: body exceeds capacity: 4194304"));
    }

    @Test
    void anAnswerThatComesInDropsEndsWithItsConnection() throws InterruptedException {
        CountDownLatch closed = new CountDownLatch(2);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 0);
            try (OutputStream body = exchange.getResponseBody()) {
                while (!end.await(10, TimeUnit.MILLISECONDS)) {
                    body.write(' ');
                    body.flush();
                }
            } catch (IOException gone) {
                closed.countDown();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            exchange.close();
        });
        HttpMasterClient client = new HttpMasterClient(
                server.getAddress().getPort(), 1, HttpMasterClientTest::noToken, LONG, SHORT, SHORT);

        assertThat(client.ask(Map.of("drips", MASTER)).values())
                .allSatisfy(answer -> assertThat(answer).isInstanceOf(MasterAnswer.Silent.class));
        assertThat(client.handOver(MASTER)).contains("its answer began and did not end in time");
        closed.await();
    }

    @Test
    void aHangingMasterDoesNotHoldUpTheOthers() {
        server.createContext("/", exchange -> {
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            exchange.close();
        });

        Map<String, MasterAnswer> answers =
                client(server.getAddress().getPort()).ask(Map.of("hangs", MASTER, "hangs-too", MASTER));

        assertThat(answers).containsOnlyKeys("hangs", "hangs-too");
        assertThat(answers.values()).allSatisfy(answer -> assertThat(answer).isInstanceOf(MasterAnswer.Silent.class));
    }

    @Test
    void aClosedPortIsNamed() {
        int port = server.getAddress().getPort();
        server.stop(0);

        assertThat(client(port).ask(Map.of("demo-master-0", MASTER)).get("demo-master-0"))
                .isInstanceOfSatisfying(
                        MasterAnswer.Silent.class,
                        silent -> assertThat(silent.reason()).startsWith("the connection failed"));
    }

    @Test
    void whatIsLeftOfANodeThatIsBeingEmptiedIsRead() {
        answer(200, """
                {"nodes":[{"id":"a","state":"draining","objectsLeft":3,
                  "leftovers":[{"tier":"dram","objects":3,"bytes":12,"reason":"no node has room"}]}]}
                """);

        assertThat(ask()).isInstanceOfSatisfying(MasterAnswer.Report.class, said -> {
            PoolReport.Node node = said.report().nodes().getFirst();
            assertThat(node.objectsLeft()).isEqualTo(3);
            assertThat(node.contents().leftovers())
                    .containsExactly(new PoolReport.Leftover("dram", 3, 12, "no node has room"));
        });
    }

    @ParameterizedTest
    @CsvSource({"200, true", "404, true", "503, false", "500, false"})
    void aDrainThatIsNotThereIsAsGoodAsOneThatIsCancelled(int status, boolean done) {
        List<String> asked = new ArrayList<>();
        server.createContext("/api/v1/drain", exchange -> {
            asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });

        Optional<String> why = client(server.getAddress().getPort()).cancelDrain(MASTER, "set.node/1");

        assertThat(asked).containsExactly("DELETE /api/v1/drain?node=set.node%2F1");
        assertThat(why.isEmpty()).isEqualTo(done);
        assertThat(why.orElse("HTTP status " + status)).contains("HTTP status " + status);
    }

    @Test
    void whatIsToBeClearedIsToldWithItsDrain() {
        List<String> asked = new ArrayList<>();
        server.createContext("/api/v1/drain", exchange -> {
            asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
            exchange.sendResponseHeaders(202, -1);
            exchange.close();
        });

        HttpMasterClient client = client(server.getAddress().getPort());
        assertThat(client.drain(MASTER, "node-1", Duration.ofMinutes(1))).isEmpty();
        assertThat(client.clear(MASTER, "node-1", Duration.ofMinutes(1))).isEmpty();

        assertThat(asked)
                .containsExactly(
                        "POST /api/v1/drain?node=node-1&timeout=60s",
                        "POST /api/v1/drain?node=node-1&timeout=60s&clear=true");
    }

    private void answer(int status, String body) {
        server.createContext("/api/v1/pool", exchange -> {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(bytes);
            }
        });
    }

    private MasterAnswer ask() {
        return client(server.getAddress().getPort())
                .ask(Map.of("demo-master-0", MASTER))
                .get("demo-master-0");
    }

    private static HttpMasterClient client(int port) {
        return new HttpMasterClient(port, port, HttpMasterClientTest::noToken);
    }

    private static String noToken(String audience) {
        throw new IllegalStateException("plain masters get no token");
    }
}
