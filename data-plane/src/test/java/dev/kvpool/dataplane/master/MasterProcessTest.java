// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.Frame;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.dataplane.wire.codec.FullPeerEncoder;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.PutOutcome;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real masters in this process, over real loopback sockets. */
class MasterProcessTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    private MasterProcess master;

    @BeforeEach
    void start() throws Exception {
        master = start("m-0");
    }

    @AfterEach
    void stop() {
        master.close();
    }

    private MasterProcess start(String name) throws IOException, InterruptedException {
        MasterConfig config = new LoopbackMaster(POOL, name, directory)
                .expecting("a")
                .timed(new ElectionTimes(3_000, 2_000, 100))
                .config();
        return MasterProcess.start(config, PeerSocket.VERSIONS, (what, cause) -> {});
    }

    @Test
    void aPutIsFoundAndStaysFoundWhenTheLeaderHandsOver() throws Exception {
        try (SocketNode node = new SocketNode(POOL, "a").dial(master.port());
                MasterProcess standby = start("m-1")) {
            node.dial(standby.port());
            awaitLeader(master);
            assertThat(get(standby, "/role").body()).isEqualTo("standby");
            ObjectId id = put(node, master, "k");

            master.close();

            awaitLeader(standby);
            try (PeerSocket client = client(standby)) {
                client.send(new LookupRequest(9, List.of(Key.of("k"), Key.of("none"))));
                LookupReply reply = client.receive(LookupReply.class);
                assertThat(reply.status()).isEqualTo(Status.OK);
                assertThat(reply.authority().epoch()).isEqualTo(2);
                assertThat(reply.objects().getFirst().objectId()).isEqualTo(id);
                assertThat(reply.objects().getFirst().payloadLength()).isEqualTo(100);
                assertThat(reply.objects().get(1).status()).isEqualTo(Status.NOT_FOUND);
            }
        }
    }

    @Test
    void aLeaderHandsOverAndStaysAsAStandby() throws Exception {
        try (SocketNode node = new SocketNode(POOL, "a").dial(master.port());
                MasterProcess standby = start("m-1")) {
            node.dial(standby.port());
            awaitLeader(master);
            put(node, master, "k");
            await().atMost(PATIENCE).until(() -> get(standby, "/readyz").statusCode() == 200);
            assertThat(post(standby, "/api/v1/handover").statusCode()).isEqualTo(503);

            assertThat(post(master, "/api/v1/handover").body()).isEqualTo("{\"from\":\"m-0\",\"epoch\":1}");

            awaitLeader(standby);
            assertThat(pool(standby).path("objects").asLong()).isEqualTo(1);
            assertThat(get(master, "/role").body()).isEqualTo("standby");
            put(node, standby, "l");
            assertThat(post(standby, "/api/v1/handover").statusCode()).isEqualTo(200);
            awaitLeader(master);
            put(node, master, "m");
        }
    }

    @Test
    void aLeaderThatNobodyFollowsLeadsAgainWithAHigherEpoch() throws Exception {
        try (SocketNode node = new SocketNode(POOL, "a").dial(master.port())) {
            awaitLeader(master);

            assertThat(post(master, "/api/v1/handover").statusCode()).isEqualTo(200);

            await().atMost(PATIENCE).until(() -> get(master, "/role").body().equals("standby"));
            awaitLeader(master);
            assertThat(pool(master).path("epoch").asLong()).isEqualTo(2);
            put(node, master, "k");
        }
    }

    @Test
    void theAdminEndpointTellsWhatEverybodyUnderstands() throws Exception {
        Versions later = new Versions("0.2.0", new VersionRange(1, 2), new VersionRange(1, 2), new VersionRange(1, 1));
        try (SocketNode _ = new SocketNode(POOL, "a").dial(master.port());
                PeerSocket _ = client(master);
                PeerSocket other = new PeerSocket(master.port())) {
            other.send(new Hello(HandshakeMessage.MAGIC, Role.CLIENT, POOL, 6, 0, later, "engine"));
            other.receive(Welcome.class);

            await().atMost(PATIENCE)
                    .until(() -> pool(master).path("clientVersions").size() == 2);
            JsonNode pool = pool(master);
            assertThat(pool.path("nodes").path(0).path("version").toString()).isEqualTo(PeerSocket.VERSIONS.json());
            assertThat(pool.path("clientVersions"))
                    .extracting(clients -> clients.path("example").asText() + " "
                            + clients.path("product").asText() + " "
                            + clients.path("wire").path("max").asInt() + " "
                            + clients.path("count").asInt())
                    .containsExactlyInAnyOrder("client 0.1.0 1 1", "engine 0.2.0 2 1");
        }
        await().atMost(PATIENCE).until(() -> pool(master).path("clientVersions").isEmpty());
    }

    @Test
    void theAdminEndpointTellsWhatTheMasterKnows() throws Exception {
        try (SocketNode node = new SocketNode(POOL, "a").dial(master.port())) {
            awaitLeader(master);
            put(node, master, "k");
            await().atMost(PATIENCE).until(() -> pool(master).path("objects").asLong() == 1);

            JsonNode pool = pool(master);
            assertThat(pool.path("state").asText()).isEqualTo("serving");
            assertThat(pool.path("leader").path("name").asText()).isEqualTo("m-0");
            assertThat(pool.path("readyNodes").asInt()).isEqualTo(1);
            assertThat(pool.path("nodes").path(0).path("incarnation").asText()).isEqualTo("0000000000001267");
            assertThat(get(master, "/healthz").statusCode()).isEqualTo(200);
            assertThat(get(master, "/readyz").statusCode()).isEqualTo(200);
            assertThat(get(master, "/get_all_segments").body()).isEqualTo("a\n");
            assertThat(get(master, "/get_all_keys").body()).isEqualTo("k\n");
            assertThat(get(master, "/query_key?key=k").body()).isEqualTo("{\"key\":\"k\",\"nodes\":[\"a\"]}");
            assertThat(get(master, "/query_key?key=none").statusCode()).isEqualTo(404);
            assertThat(get(master, "/query_key").statusCode()).isEqualTo(400);
            JsonNode there =
                    new ObjectMapper().readTree(get(master, "/api/v1/key?key=k").body());
            assertThat(there.path("state").asText()).isEqualTo("readable");
            assertThat(there.path("replicas").toString())
                    .isEqualTo(
                            "[{\"node\":\"a\",\"medium\":\"memory\",\"reachable\":true,\"behind\":false,\"draining\":false}]");
            JsonNode gone = new ObjectMapper()
                    .readTree(get(master, "/api/v1/key?key=none").body());
            assertThat(gone.path("state").asText()).isEqualTo("absent");
            assertThat(gone.path("cause").asText()).isEqualTo("unknown");
            assertThat(Instant.parse(gone.path("remembersSince").asText())).isBeforeOrEqualTo(Instant.now());
            assertThat(get(master, "/api/v1/key").statusCode()).isEqualTo(400);
            assertThat(get(master, "/version").body()).isEqualTo(PeerSocket.VERSIONS.json());
            assertThat(get(master, "/metrics").body())
                    .contains("master_key_count 1\n", "kvpool_master_puts_total{reason=\"published\"} 1.0");
            assertThat(get(master, "/api/v1/tenant_quotas").body()).isEqualTo("{\"success\":true,\"data\":[]}");
            assertThat(get(master, "/api/v1/tenant_quotas?tenant_id=").statusCode())
                    .isEqualTo(400);
            assertThat(get(master, "/api/v1/tenant_quotas?tenant_id=chat").statusCode())
                    .isEqualTo(404);
            assertThat(get(master, "/health").body()).startsWith("{\"status\":\"ok\",\"role\":\"leader\"");
            JsonNode refused = new ObjectMapper()
                    .readTree(send(HttpRequest.newBuilder(uri(master, "/api/v1/tenant_quotas?tenant_id=chat"))
                                    .PUT(BodyPublishers.ofString("{\"requested_quota_bytes\": 1}"))
                                    .build())
                            .body());
            assertThat(refused.path("error_message").asText()).contains("--tenant-quotas");
            JsonNode job = new ObjectMapper()
                    .readTree(send(HttpRequest.newBuilder(uri(master, "/api/v1/drain_jobs"))
                                    .POST(BodyPublishers.ofString("{\"segments\":[\"a\"]}"))
                                    .build())
                            .body());
            String query = "?job_id=" + job.path("job_id").asText();
            assertThat(get(master, "/api/v1/drain_jobs/query" + query).body())
                    .as("known at once")
                    .contains("\"status_name\":\"RUNNING\"");
            assertThat(post(master, "/api/v1/drain_jobs/cancel" + query).statusCode())
                    .isEqualTo(200);
            assertThat(post(master, "/api/v1/drain?node=a&clear=yes").statusCode())
                    .isEqualTo(400);
            assertThat(post(master, "/api/v1/drain?node=a&clear=true").statusCode())
                    .isEqualTo(202);
            await().atMost(PATIENCE).untilAsserted(() -> {
                JsonNode left =
                        pool(master).path("nodes").path(0).path("leftovers").path(0);
                assertThat(left.path("objects").asLong()).isEqualTo(1);
                assertThat(left.path("reason").asText()).isNotEmpty();
            });
            assertThat(post(master, "/api/v1/remove_all").body()).isEqualTo("{\"removed\":1}");
            assertThat(node.objects()).isZero();
        }
    }

    @Test
    void changesAreStreamedAndGoOnWhereASubscriberWas() throws Exception {
        try (SocketNode node = new SocketNode(POOL, "a").dial(master.port());
                MasterProcess standby = start("m-1")) {
            node.dial(standby.port());
            awaitLeader(master);
            put(node, master, "k");
            assertThat(get(standby, "/api/v1/events").body()).contains("the Lease is held by m-0");
            assertThat(get(master, "/api/v1/events?after=7").statusCode()).isEqualTo(400);

            String position;
            try (EventReader reader = new EventReader(master, "")) {
                assertThat(reader.next("snapshot-begin").path("nodes").toString())
                        .isEqualTo("[\"a\"]");
                assertThat(reader.next("object").path("key").asText()).isEqualTo("k");
                position = reader.next("snapshot-end").path("at").asText();
                put(node, master, "l");
                assertThat(reader.next("stored").path("copies").toString())
                        .isEqualTo("[{\"node\":\"a\",\"tier\":\"memory\"}]");
                assertThat(get(master, "/metrics").body()).contains("kvpool_master_events_subscribers 1.0");
            }
            try (EventReader reader = new EventReader(master, "?after=" + position)) {
                reader.next("resumed");
                assertThat(reader.next("stored").path("key").asText()).isEqualTo("l");
                reader.next("heartbeat");

                assertThat(post(master, "/api/v1/handover").statusCode()).isEqualTo(200);

                assertThat(reader.next("bye").path("reason").asText()).contains("does not serve as leader");
                assertThat(reader.isAtEnd()).isTrue();
            }
            awaitLeader(standby);
            try (EventReader reader = new EventReader(standby, "?after=" + position)) {
                reader.next("snapshot-begin");
                assertThat(List.of(
                                reader.next("object").path("key").asText(),
                                reader.next("object").path("key").asText()))
                        .containsExactlyInAnyOrder("k", "l");
                reader.next("snapshot-end");
            }
            assertThat(get(standby, "/metrics").body()).contains("kvpool_master_events_snapshots_total 1.0");
        }
    }

    /** Lines of /api/v1/events as they come. */
    private static final class EventReader implements AutoCloseable {
        private final BufferedReader lines;

        EventReader(MasterProcess of, String query) throws IOException {
            lines = new BufferedReader(new InputStreamReader(
                    URI.create("http://127.0.0.1:" + of.adminPort() + "/api/v1/events" + query)
                            .toURL()
                            .openStream(),
                    StandardCharsets.UTF_8));
        }

        /** The next line, which must be of this kind; signs of life are passed over. */
        JsonNode next(String event) throws IOException {
            JsonNode line;
            do {
                line = new ObjectMapper().readTree(lines.readLine());
            } while (line.path("event").asText().equals("heartbeat") && !event.equals("heartbeat"));
            assertThat(line.path("event").asText()).as("%s", line).isEqualTo(event);
            return line;
        }

        boolean isAtEnd() throws IOException {
            return lines.readLine() == null;
        }

        @Override
        public void close() throws IOException {
            lines.close();
        }
    }

    @Test
    void otherWireVersionsAreRefusedWithBothNames() throws Exception {
        Versions future = new Versions("9.0.0", new VersionRange(7, 9), new VersionRange(1, 1), new VersionRange(1, 1));

        Refused refused = refused(new Hello(HandshakeMessage.MAGIC, Role.NODE, POOL, 5, 0, future, "a"));

        assertThat(refused.code()).isEqualTo(RefusalCode.WIRE_VERSION);
        assertThat(refused.message()).contains("node a", "9.0.0", "7-9", "m-0", "0.1.0");
        await().atMost(PATIENCE)
                .until(() -> pool(master)
                        .path("nodes")
                        .path(0)
                        .path("state")
                        .asText()
                        .equals("refused"));
        assertThat(get(master, "/metrics").body())
                .contains("kvpool_master_connections_refused_total{reason=\"wire_version\"} 1.0");
    }

    @Test
    void nodesOfAnotherPoolAndOtherRolesAreRefused() throws Exception {
        assertThat(refused(PeerSocket.hello(Role.NODE, new UUID(1, 1), "a", 5)).code())
                .isEqualTo(RefusalCode.POOL_MISMATCH);
        assertThat(refused(PeerSocket.hello(Role.MASTER, POOL, "m", 5)).code()).isEqualTo(RefusalCode.ROLE);
    }

    @Test
    void garbageIsRefusedAndTheMasterGoesOn() throws Exception {
        byte[] noise = new byte[100_000];
        new Random(1).nextBytes(noise);
        byte[] hello = new FullPeerEncoder().encode(PeerSocket.hello(Role.CLIENT, POOL, "c", 5));
        List<byte[]> openings = List.of(
                noise,
                "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII),
                PeerSocket.frame(hello.length, 12345, hello),
                PeerSocket.frame(Frame.BODY_BYTES_MAX, 0),
                PeerSocket.frame(-1, 0),
                PeerSocket.frame(0, 0),
                PeerSocket.frame(new FullPeerEncoder().encode(new LookupRequest(1, List.of()))));
        for (byte[] opening : openings) {
            try (PeerSocket socket = new PeerSocket(master.port())) {
                socket.sendRaw(opening);

                assertThat(socket.receive(Refused.class).code()).isEqualTo(RefusalCode.PROTOCOL);
                assertThat(socket.receive()).isEmpty();
            }
        }
        try (PeerSocket client = client(master)) {
            client.send(new LookupRequest(1, List.of(Key.of("k"))));
            assertThat(client.receive(LookupReply.class).requestId()).isEqualTo(1);
        }
    }

    @Test
    void malformedBytesAfterTheWelcomeEndTheConnection() throws Exception {
        try (PeerSocket client = client(master)) {
            client.sendRaw(PeerSocket.frame(4, 99, (byte) 1, (byte) 2, (byte) 3, (byte) 4));

            assertThat(client.receive()).isEmpty();
        }
        await().atMost(PATIENCE)
                .until(() -> get(master, "/metrics").body().contains("kvpool_master_protocol_errors_total 1.0"));
    }

    @Test
    void aFrameThatIsCutOffHoldsNobodyUp() throws Exception {
        try (PeerSocket half = new PeerSocket(master.port())) {
            half.sendRaw((byte) 1, (byte) 2, (byte) 3);
            try (PeerSocket client = client(master)) {
                client.send(new LookupRequest(1, List.of(Key.of("k"))));
                assertThat(client.receive(LookupReply.class).requestId()).isEqualTo(1);
            }
        }
    }

    @Test
    void aPortInUseIsNamed() {
        MasterConfig taken =
                new LoopbackMaster(POOL, "m-1", directory).at(master.port()).config();

        assertThatThrownBy(() -> MasterProcess.start(taken, PeerSocket.VERSIONS, (what, cause) -> {}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot listen on 127.0.0.1 port " + master.port());
    }

    @Test
    void theFileOfExpectedNodesIsReadAgainWhenItChanges() throws Exception {
        Path file = directory.resolve("expected-nodes");
        Files.writeString(file, "# the pool's nodes\na\n\n");
        MasterConfig config =
                new LoopbackMaster(POOL, "m-1", directory).reading(file).config();
        try (MasterProcess following = MasterProcess.start(config, PeerSocket.VERSIONS, (what, cause) -> {})) {
            assertThat(following.status().expectedNodes()).isEqualTo(1);

            Files.writeString(file, "a\nb\nc");

            await().atMost(PATIENCE).until(() -> following.status().expectedNodes() == 3);
        }
    }

    // ---- what peers do ------------------------------------------------------------------------------------------

    private static ObjectId put(SocketNode node, MasterProcess leader, String key) throws IOException {
        try (PeerSocket client = client(leader)) {
            client.send(new GrantRequest(1, 1, 10_000, false, List.of(new GrantKey(Key.of(key), 100)), ""));
            GrantReply grant = client.receive(GrantReply.class);
            assertThat(grant.status()).isEqualTo(Status.OK);
            assertThat(grant.nodes().getFirst().incarnation()).isEqualTo(SocketNode.INCARNATION);
            ObjectId id = grant.grants().getFirst().objectId();
            node.commit(id, key, 100);
            client.send(new PublishRequest(
                    2, List.of(new Put(id, PutOutcome.WRITTEN, List.of(SocketNode.INCARNATION), Key.of(key)))));
            assertThat(client.receive(PublishReply.class).results()).containsExactly(Status.OK);
            return id;
        }
    }

    private static PeerSocket client(MasterProcess to) throws IOException {
        PeerSocket socket = new PeerSocket(to.port());
        socket.send(PeerSocket.hello(Role.CLIENT, HandshakeMessage.ANY_POOL, "client", 5));
        assertThat(socket.receive(Welcome.class).poolId()).isEqualTo(POOL);
        return socket;
    }

    private Refused refused(Hello hello) throws IOException {
        try (PeerSocket socket = new PeerSocket(master.port())) {
            socket.send(hello);
            Refused refused = socket.receive(Refused.class);
            assertThat(socket.receive()).isEmpty();
            return refused;
        }
    }

    private static void awaitLeader(MasterProcess process) {
        await().atMost(PATIENCE).until(() -> get(process, "/role").body().equals("leader"));
    }

    private static JsonNode pool(MasterProcess process) throws IOException, InterruptedException {
        return new ObjectMapper().readTree(get(process, "/api/v1/pool").body());
    }

    private static HttpResponse<String> get(MasterProcess process, String path)
            throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(process, path)).build());
    }

    private static HttpResponse<String> post(MasterProcess process, String path)
            throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(process, path))
                .POST(BodyPublishers.noBody())
                .build());
    }

    private static URI uri(MasterProcess process, String path) {
        return URI.create("http://127.0.0.1:" + process.adminPort() + path);
    }

    private static HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(request, BodyHandlers.ofString());
        }
    }
}
