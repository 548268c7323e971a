// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.election.FileLeaseStore;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.master.LeaderProbe.Finding;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.wire.Handshake;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.nativelib.Uptime;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A standby looks after a leader over real sockets, and takes a Lease that would be valid for hours. */
class EarlyTakeoverTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a02");
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final ElectionTimes SLOW = new ElectionTimes(7_200_000, 3_600_000, 1_000_000);
    private static final Authority DEAD = new Authority(5, 0xdead);

    @TempDir
    Path directory;

    private MasterProcess start(String name, ElectionTimes times) throws IOException, InterruptedException {
        MasterConfig config = new LoopbackMaster(POOL, name, directory)
                .expecting("a")
                .timed(times)
                .config();
        return MasterProcess.start(config, PeerSocket.VERSIONS, (what, cause) -> {});
    }

    private void leaseOfTheDead() throws Exception {
        try (FileLeaseStore store = new FileLeaseStore(directory.resolve("lease"))) {
            String holder = "m-dead_000000000000dead";
            store.create(new LeaseRecord(holder, 7_200, Instant.now(), Instant.now(), DEAD.epoch()));
        }
    }

    private String holder() throws Exception {
        try (FileLeaseStore store = new FileLeaseStore(directory.resolve("lease"))) {
            return store.read().orElseThrow().lease().holder();
        }
    }

    private static HttpResponse<String> sayGone(MasterProcess to, String holder, long epoch, int port)
            throws IOException, InterruptedException {
        return post(to, "leader_gone?holder=%s&epoch=%d&address=127.0.0.1:%d".formatted(holder, epoch, port));
    }

    private static HttpResponse<String> post(MasterProcess to, String what) throws IOException, InterruptedException {
        return send(to, what, "POST");
    }

    private static JsonNode pool(MasterProcess of) throws IOException, InterruptedException {
        return new ObjectMapper().readTree(send(of, "pool", "GET").body());
    }

    private static HttpResponse<String> send(MasterProcess to, String what, String method)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + to.adminPort() + "/api/v1/" + what);
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                    HttpRequest.newBuilder(uri)
                            .method(method, HttpRequest.BodyPublishers.noBody())
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    /** The clock of masters. */
    private static long monotonicMs() {
        return Uptime.ms();
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Test
    void theLeaseOfALeaderThatIsGoneIsTakenAtOnce() throws Exception {
        leaseOfTheDead();
        try (MasterProcess standby = start("m-1", SLOW);
                SocketNode node = new SocketNode(POOL, "a").dial(standby.port())) {
            node.sayCrashed(DEAD, "127.0.0.1:" + closedPort());

            await().atMost(PATIENCE).until(() -> standby.status().epoch() == 6);
        }
    }

    @Test
    void aProcessThatSucceededTheLeaderAtItsAddressProvesAsMuch() throws Exception {
        leaseOfTheDead();
        try (MasterProcess standby = start("m-1", SLOW);
                SocketNode node = new SocketNode(POOL, "a").dial(standby.port())) {
            node.sayCrashed(DEAD, "127.0.0.1:" + standby.port());

            await().atMost(PATIENCE).until(() -> standby.status().epoch() == 6);
        }
    }

    @Test
    void whoeverWatchesTheLeadersProcessMaySayThatItIsGone() throws Exception {
        leaseOfTheDead();
        try (MasterProcess standby = start("m-1", SLOW);
                SocketNode _ = new SocketNode(POOL, "a").dial(standby.port())) {
            HttpResponse<String> answer = sayGone(standby, "m-dead_000000000000dead", 5, closedPort());

            assertThat(answer.statusCode()).isEqualTo(202);
            await().atMost(PATIENCE).until(() -> standby.status().isLeader(monotonicMs()));
            JsonNode takeover = pool(standby).path("takeover");
            assertThat(takeover.path("epoch").asLong()).isEqualTo(6);
            assertThat(takeover.path("cause").asText()).isEqualTo("died");
            assertThat(takeover.path("from").asText()).isEqualTo("m-dead");
            assertThat(takeover.path("durationMs").asLong(-1)).isNotNegative();
            assertThat(Instant.parse(takeover.path("at").asText())).isBefore(Instant.now());
        }
    }

    @Test
    @SuppressWarnings("try") // The leader ends before the standby does; closing it twice is fine.
    void aLeaderThatLivesKeepsItsLeaseWhateverIsSaidOfIt() throws Exception {
        try (MasterProcess leader = start("m-0", ElectionTimes.DEFAULT);
                MasterProcess standby = start("m-1", ElectionTimes.DEFAULT);
                SocketNode node = new SocketNode(POOL, "a").dial(leader.port())) {
            node.dial(standby.port());
            await().atMost(PATIENCE).until(() -> leader.status().isLeader(monotonicMs()));

            assertThat(sayGone(standby, holder(), 1, leader.port()).statusCode())
                    .isEqualTo(202);

            assertThat(pool(standby).has("takeover")).isFalse();
            // It looks at the Lease once a second: whose it takes over is known only to one that has seen it held.
            await().atMost(PATIENCE)
                    .until(() ->
                            pool(standby).path("leader").path("name").asText().equals("m-0"));
            leader.close();
            await().atMost(PATIENCE).until(() -> standby.status().isLeader(monotonicMs()));
            assertThat(pool(standby).path("takeover").path("cause").asText()).isEqualTo("released");
            assertThat(pool(standby).path("takeover").path("from").asText()).isEqualTo("m-0");
        }
    }

    @Test
    void whatIsSaidOfALeaderMustNameItAndALeaderKnowsBetter() throws Exception {
        try (MasterProcess leader = start("m-0", ElectionTimes.DEFAULT);
                SocketNode _ = new SocketNode(POOL, "a").dial(leader.port())) {
            await().atMost(PATIENCE).until(() -> leader.status().isLeader(monotonicMs()));

            assertThat(sayGone(leader, holder(), 1, leader.port()).statusCode()).isEqualTo(409);
            assertThat(post(leader, "leader_gone").body()).contains("say epoch");
            assertThat(post(leader, "leader_gone?epoch=1").body()).contains("say holder");
            assertThat(post(leader, "leader_gone?epoch=-1&holder=m_0000000000000001")
                            .body())
                    .contains("a positive number, not -1");
            assertThat(post(leader, "leader_gone?epoch=1&holder=m").body()).contains("16 hexadecimal digits, not m");
            assertThat(post(leader, "leader_gone?epoch=1&holder=m_0000000000000001")
                            .body())
                    .contains("say address");
            HttpResponse<String> noPort = post(leader, "leader_gone?epoch=1&holder=m_0000000000000001&address=host");
            assertThat(noPort.statusCode()).isEqualTo(400);
            assertThat(noPort.body()).contains("'host' has no port");
        }
    }

    @Test
    void aMasterIsThereForWhoeverAsksForItsIncarnationAndGoneForOthers() throws Exception {
        Handshake.Self self = new Handshake.Self("probe", POOL, 77, PeerSocket.VERSIONS);
        LeaderProbe probe = new LeaderProbe(self, Optional::empty);
        try (MasterProcess leader = start("m-0", ElectionTimes.DEFAULT)) {
            String address = "127.0.0.1:" + leader.port();
            await().atMost(PATIENCE).until(() -> leader.status().epoch() == 1);
            long nonce = nonce();

            assertThat(probe.look(address, nonce)).isEqualTo(Finding.THERE);
            assertThat(probe.look(address, nonce + 1)).isEqualTo(Finding.GONE);
        }
        assertThat(probe.look("127.0.0.1:" + closedPort(), 5)).isEqualTo(Finding.GONE);
    }

    /** It goes on renewing its Lease. That there is another master it knows from being dialled, as standbys do when nodes do not hear a leader. */
    @Test
    @SuppressWarnings("try") // The node leaves that leader in the midst of it.
    void aLeaderThatNodesHaveLeftHandsOverToAMasterThatTheyReach() throws Exception {
        try (MasterProcess leader = start("m-0", ElectionTimes.DEFAULT);
                SocketNode before = new SocketNode(POOL, "a").dial(leader.port())) {
            await().atMost(PATIENCE).until(() -> leader.status().isLeader(monotonicMs()));
            try (MasterProcess standby = start("m-1", ElectionTimes.DEFAULT);
                    SocketNode _ = new SocketNode(POOL, "a").dial(standby.port())) {
                LeaderProbe probe =
                        new LeaderProbe(new Handshake.Self("m-1", POOL, 77, PeerSocket.VERSIONS), Optional::empty);
                String address = "127.0.0.1:" + leader.port();
                long nonce = nonce();
                before.close();

                await().atMost(PATIENCE).until(() -> {
                    probe.look(address, nonce);
                    return standby.status().isLeader(monotonicMs());
                });
                assertThat(pool(standby).path("takeover").path("cause").asText())
                        .isEqualTo("released");
                assertThat(leader.status().counters().get(Count.HANDOVERS_BLIND))
                        .isEqualTo(1);
            }
        }
    }

    private long nonce() throws Exception {
        String holder = holder();
        return Long.parseUnsignedLong(holder.substring(holder.indexOf('_') + 1), 16);
    }

    @Test
    void whatSaysNothingIsNotTakenForDeath() throws Exception {
        LeaderProbe probe =
                new LeaderProbe(new Handshake.Self("probe", POOL, 77, PeerSocket.VERSIONS), Optional::empty);
        try (ServerSocket mute = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            assertThat(probe.look("127.0.0.1:" + mute.getLocalPort(), 5)).isEqualTo(Finding.UNKNOWN);
        }
        assertThat(probe.look("", 5)).isEqualTo(Finding.UNKNOWN);
        assertThat(probe.look("no port", 5)).isEqualTo(Finding.UNKNOWN);
        assertThat(probe.look("no-such-host.invalid:1", 5)).isEqualTo(Finding.UNKNOWN);
    }
}
