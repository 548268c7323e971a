// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.http.AdminGuard;
import dev.kvpool.dataplane.http.AdminServer;
import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.dataplane.http.RequestAudit;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.identity.name.PeerName;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AuditLogTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Instant NOW = Instant.parse("2026-11-01T12:00:00.1234Z");
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("192.0.2.7");

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private long uptimeMs = 5;
    private final AuditLog log = new AuditLog(lines::add, () -> NOW, () -> uptimeMs);

    private static Caller caller(String path) {
        return new Caller(Optional.of(PeerName.ofPath(POOL, path)), "4f2a", ADDRESS);
    }

    private void answered(Caller caller, String method, String path, String tenant, int status, boolean refused) {
        log.answered(new RequestAudit.Asked(caller, method, path, Optional.ofNullable(tenant)), status, refused);
    }

    @Test
    void aLineSaysWhoDidWhatAndWhatCameOfIt() {
        answered(caller("admin/a"), "POST", "/api/v1/remove_all", "chat", 200, false);
        answered(caller("operator"), "POST", "/api/v1/drain", null, 409, false);
        answered(caller("monitor"), "POST", "/api/v1/drain", null, 403, true);
        answered(Caller.unknown(ADDRESS), "GET", "/api/v1/pool", null, 401, true);
        log.enrolled(caller("tenant/chat/rw/team-a.engine"), "POST /api/v1/enrol");
        log.refusedToEnrol(Caller.unknown(ADDRESS), "POST /api/v1/enrol", 401, "the token expired");

        assertThat(lines)
                .containsExactly(
                        "{\"time\":\"2026-11-01T12:00:00.123Z\",\"principal\":\"admin/a\",\"serial\":\"4f2a\",\"address\":\"192.0.2.7\","
                                + "\"verb\":\"POST /api/v1/remove_all\",\"tenant\":\"chat\",\"outcome\":\"done\",\"status\":200}",
                        "{\"time\":\"2026-11-01T12:00:00.123Z\",\"principal\":\"operator\",\"serial\":\"4f2a\",\"address\":\"192.0.2.7\","
                                + "\"verb\":\"POST /api/v1/drain\",\"outcome\":\"failed\",\"status\":409}",
                        "{\"time\":\"2026-11-01T12:00:00.123Z\",\"principal\":\"monitor\",\"serial\":\"4f2a\",\"address\":\"192.0.2.7\","
                                + "\"verb\":\"POST /api/v1/drain\",\"outcome\":\"refused\",\"status\":403}",
                        "{\"time\":\"2026-11-01T12:00:00.123Z\",\"address\":\"192.0.2.7\",\"verb\":\"GET /api/v1/pool\",\"outcome\":\"refused\","
                                + "\"status\":401}",
                        "{\"time\":\"2026-11-01T12:00:00.123Z\",\"principal\":\"tenant/chat/rw/team-a.engine\",\"serial\":\"4f2a\","
                                + "\"address\":\"192.0.2.7\",\"verb\":\"POST /api/v1/enrol\",\"tenant\":\"chat\",\"outcome\":\"granted\","
                                + "\"status\":200}",
                        "{\"time\":\"2026-11-01T12:00:00.123Z\",\"address\":\"192.0.2.7\",\"verb\":\"POST /api/v1/enrol\","
                                + "\"outcome\":\"refused\",\"status\":401,\"why\":\"the token expired\"}");
    }

    @Test
    void whatChangesNothingIsNotWritten() {
        for (String path : List.of("/healthz", "/metrics", "/api/v1/pool", "/get_all_keys", "/nowhere")) {
            answered(caller("admin/a"), "GET", path, null, 200, false);
        }
        assertThat(lines).isEmpty();
    }

    @Test
    void refusalsAreBoundedAndPushNothingElseOut() throws IOException {
        for (int i = 0; i < 1000; i++) {
            answered(Caller.unknown(ADDRESS), "GET", "/api/v1/pool", null, 401, true);
        }
        answered(caller("admin/a"), "POST", "/api/v1/drain", null, 200, false);
        assertThat(lines).hasSize(AuditLog.REFUSALS_PER_SECOND_MAX + 1);
        assertThat(lines.getLast()).contains("\"principal\":\"admin/a\"").doesNotContain("dropped");
        assertThat(log.dropped()).isEqualTo(1000 - AuditLog.REFUSALS_PER_SECOND_MAX);

        uptimeMs += 1000;
        answered(Caller.unknown(ADDRESS), "GET", "/api/v1/pool", null, 401, true);
        answered(Caller.unknown(ADDRESS), "GET", "/api/v1/pool", null, 401, true);
        assertThat(new ObjectMapper()
                        .readTree(lines.get(lines.size() - 2))
                        .path("dropped")
                        .asInt())
                .isEqualTo(990);
        assertThat(lines.getLast()).as("told once").doesNotContain("dropped");
        for (int i = 0; i < 200; i++) {
            log.enrolled(caller("tenant/chat/rw/a"), "POST /api/v1/enrol");
        }
        assertThat(log.dropped()).isEqualTo(990 + 100);
    }

    @Test
    void noKindOfLinePushesAnotherOut() {
        for (int i = 0; i < 200; i++) {
            answered(caller("admin/a"), "POST", "/api/v1/hint", null, 200, false);
            log.enrolled(caller("tenant/chat/rw/a"), "POST /api/v1/enrol");
            log.refusedOnDataPort(caller("tenant/chat/ro/a"), "GrantRequest", "");
        }
        answered(caller("admin/a"), "POST", "/api/v1/drain", null, 200, false);
        assertThat(lines.getLast()).contains("POST /api/v1/drain").doesNotContain("dropped");
        answered(caller("admin/a"), "POST", "/api/v1/hint", null, 403, true);
        assertThat(lines.getLast()).contains("POST /api/v1/hint", "refused").doesNotContain("dropped");
        assertThat(lines)
                .hasSize(AuditLog.HINTS_PER_SECOND_MAX
                        + AuditLog.OTHERS_PER_SECOND_MAX
                        + AuditLog.REFUSALS_PER_SECOND_MAX
                        + 2);
        assertThat(log.dropped()).isEqualTo(190 + 100 + 190);
    }

    @Test
    void hintsOfCallersWithoutANameAreNotWritten() {
        answered(Caller.unknown(ADDRESS), "POST", "/api/v1/hint", null, 200, false);
        assertThat(lines).isEmpty();
        assertThat(log.dropped()).isZero();
        answered(Caller.unknown(ADDRESS), "POST", "/api/v1/remove_all", null, 200, false);
        answered(Caller.unknown(ADDRESS), "POST", "/api/v1/hint", null, 401, true);
        assertThat(lines).hasSize(2);
    }

    @Test
    void aLogThatTakesLongHoldsNoOtherCallerUp() throws Exception {
        CountDownLatch isWriting = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AuditLog slow = new AuditLog(
                line -> {
                    if (line.contains("/api/v1/drain")) {
                        isWriting.countDown();
                        uninterruptibly(mayEnd);
                    }
                    lines.add(line);
                },
                () -> NOW,
                () -> uptimeMs);
        CompletableFuture<Void> first = CompletableFuture.runAsync(
                () -> slow.answered(
                        new RequestAudit.Asked(caller("admin/a"), "POST", "/api/v1/drain", Optional.empty()),
                        200,
                        false),
                Thread::startVirtualThread);
        try {
            assertThat(isWriting.await(20, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<Void> second = CompletableFuture.runAsync(
                    () -> slow.refusedOnDataPort(caller("tenant/chat/ro/a"), "GrantRequest", ""),
                    Thread::startVirtualThread);
            assertThat(second).succeedsWithin(Duration.ofSeconds(20));
            assertThat(first).isNotDone();
        } finally {
            mayEnd.countDown();
        }
        assertThat(first).succeedsWithin(Duration.ofSeconds(20));
        assertThat(lines).hasSize(2);
        assertThat(lines.getFirst()).contains("GrantRequest");
    }

    private static void uninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anyTextStaysOneShortLine() throws Exception {
        try (AdminServer server = AdminServer.start(
                        "127.0.0.1",
                        0,
                        List.of(Route.post("/api/v1/remove_all", request -> Response.text(200, "done"))),
                        AdminGuard.OPEN,
                        log);
                HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + server.port()
                    + "/api/v1/remove_all?force=true&pattern=secret&tenant=%0a%7d%00%e2%80%a8%e2%80%a9%c2%85%c2%9b%c3%a9"
                    + "t".repeat(3000));
            HttpRequest request = HttpRequest.newBuilder(uri)
                    .POST(HttpRequest.BodyPublishers.noBody())
                    .header("X-Kvpool-Token", "eyJ.secret.token")
                    .build();
            assertThat(client.send(request, HttpResponse.BodyHandlers.ofString())
                            .statusCode())
                    .isEqualTo(200);
        }
        String line = lines.getFirst();
        assertThat(line).hasSizeLessThan(600).doesNotContain("secret").doesNotContain("\n");
        JsonNode json = new ObjectMapper().readTree(line);
        assertThat(json.path("address").asText()).isEqualTo("127.0.0.1");
        assertThat(json.path("verb").asText()).isEqualTo("POST /api/v1/remove_all");
        assertThat(json.path("tenant").asText()).startsWith("?}?????éttt");
    }
}
