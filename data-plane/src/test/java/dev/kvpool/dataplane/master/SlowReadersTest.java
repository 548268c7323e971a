// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.master.loop.UnsentMessages;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.dataplane.wire.codec.FullPeerEncoder;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantLine;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.Status;
import dev.kvpool.nativelib.Uptime;
import dev.kvpool.wire.PutOutcome;
import dev.kvpool.wire.Role;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Clients that ask for much and read little or nothing of the answers, over real sockets. */
@Timeout(300)
class SlowReadersTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a02");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int KEYS = 1024;

    private final List<PeerSocket> clients = new ArrayList<>();
    private MasterProcess master;
    private SocketNode node;

    @TempDir
    Path folder;

    @BeforeEach
    void start() throws Exception {
        MasterConfig config = new LoopbackMaster(POOL, "m-0", Files.createTempDirectory(folder, "lease"))
                .expecting("a")
                .config();
        master = MasterProcess.start(config, PeerSocket.VERSIONS, (what, cause) -> {});
        node = new SocketNode(POOL, "a").dial(master.port());
        await().atMost(PATIENCE).until(() -> master.status().isLeader(Uptime.ms()));
        put("k");
    }

    @AfterEach
    void stop() throws IOException {
        for (PeerSocket client : clients) {
            client.close();
        }
        node.close();
        master.close();
    }

    @Test
    void nothingMoreIsReadFromAPeerThatDoesNotReadItsAnswersAndAllAreAnsweredWhenItDoes() throws Exception {
        int requests = 3 * UnsentMessages.CONNECTION_BYTES_MAX / (KEYS * 30);
        PeerSocket slow = client();
        AtomicInteger asked = ask(slow, requests);
        untilItStops(asked);
        assertThat(asked.get()).as("asked and read by the master").isLessThan(requests);

        for (int i = 0; i < requests; i++) {
            assertThat(slow.receive(LookupReply.class).requestId()).isEqualTo(3);
        }
        put("after");
    }

    /** Each leaves less unsent than one may. */
    @Test
    void ofManyThatReadNothingThoseGoThatTogetherAreTooMuch() throws Exception {
        int many = UnsentMessages.OTHERS_BYTES_MAX / UnsentMessages.READ_BYTES_MAX + 16;
        for (int i = 0; i < many; i++) {
            var _ = ask(client(), Integer.MAX_VALUE);
        }
        await().atMost(PATIENCE).until(() -> overflowed() > 0);
        assertThat(overflowed()).as("no more than need be").isLessThan(many / 2);
        put("after");
        assertThat(node.objects()).as("the storage node is there as before").isEqualTo(2);
    }

    /** Connections that were closed because their peers did not read. */
    private int overflowed() throws Exception {
        URI metrics = URI.create("http://127.0.0.1:" + master.adminPort() + "/metrics");
        try (HttpClient http = HttpClient.newHttpClient()) {
            String series = "kvpool_master_connections_overflowed_total ";
            return http.send(HttpRequest.newBuilder(metrics).build(), BodyHandlers.ofString())
                    .body()
                    .lines()
                    .filter(line -> line.startsWith(series))
                    .mapToInt(line -> (int) Double.parseDouble(line.substring(series.length())))
                    .sum();
        }
    }

    /** Sends until all is sent or the connection ends, and counts. */
    private static AtomicInteger ask(PeerSocket client, int requests) {
        AtomicInteger asked = new AtomicInteger();
        LookupRequest request = new LookupRequest(3, Collections.nCopies(KEYS, Key.of("k")));
        byte[] frame = PeerSocket.frame(new FullPeerEncoder().encode(request));
        Thread.ofPlatform().daemon().start(() -> {
            try {
                for (int i = 0; i < requests; i++) {
                    client.sendRaw(frame);
                    asked.incrementAndGet();
                }
            } catch (IOException e) {
                // The master has closed it, or the test is over.
            }
        });
        return asked;
    }

    private static void untilItStops(AtomicInteger asked) throws InterruptedException {
        int before = -1;
        while (asked.get() != before) {
            before = asked.get();
            Thread.sleep(2_000);
        }
    }

    private PeerSocket client() throws IOException {
        PeerSocket client = new PeerSocket(master.port());
        clients.add(client);
        client.send(PeerSocket.hello(Role.CLIENT, POOL, "client", 5));
        client.receive(Welcome.class);
        return client;
    }

    private void put(String key) throws IOException {
        PeerSocket client = client();
        AtomicReference<GrantLine> grant = new AtomicReference<>();
        await().atMost(PATIENCE).until(() -> {
            client.send(new GrantRequest(1, 0, 5_000, false, List.of(new GrantKey(Key.of(key), 100)), ""));
            GrantReply reply = client.receive(GrantReply.class);
            reply.grants().forEach(grant::set);
            return grant.get() != null && grant.get().status() == Status.OK; // the node may be about to join
        });
        ObjectId id = grant.get().objectId();
        node.commit(id, key, 100);
        client.send(new PublishRequest(
                2, List.of(new Put(id, PutOutcome.WRITTEN, List.of(SocketNode.INCARNATION), Key.of(key)))));
        assertThat(client.receive(PublishReply.class).results()).containsExactly(Status.OK);
    }
}
