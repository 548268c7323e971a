// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.CapturedLog;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.dataplane.master.LeaderProbe.Finding;
import dev.kvpool.dataplane.secure.ConnectionProof.Prover;
import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.secure.IssuedCertificates;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import dev.kvpool.dataplane.wire.Handshake;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientReply.GrantReply;
import dev.kvpool.dataplane.wire.message.ClientReply.HintReply;
import dev.kvpool.dataplane.wire.message.ClientReply.LookupReply;
import dev.kvpool.dataplane.wire.message.ClientReply.PublishReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveAllReply;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProven;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Heartbeat;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.peer.ServerTrust;
import dev.kvpool.nativelib.Status;
import dev.kvpool.nativelib.Uptime;
import dev.kvpool.wire.Hint;
import dev.kvpool.wire.Medium;
import dev.kvpool.wire.PutOutcome;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A master's data port with TLS, over real sockets: who comes in with which certificate, and that the pool serves after each attempt. */
class HostileDataPortTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration DAY = Duration.ofDays(1);

    private final CertificateAuthority authority = CertificateAuthority.create(POOL, Instant.now(), DAY);
    private final CertificateAuthority otherPools = CertificateAuthority.create(new UUID(7, 7), Instant.now(), DAY);
    private MasterProcess master;
    private Path directory; // of its certificates
    private SocketNode node;

    @TempDir
    Path folder;

    @BeforeEach
    void start() throws Exception {
        start(TlsMode.REQUIRED);
    }

    private void start(TlsMode mode) throws Exception {
        directory = issue(authority, "master/m-0", Instant.now(), DAY);
        // It trusts the CA of another pool too: the name must keep that one out.
        Files.writeString(
                directory.resolve("ca.crt"),
                Pem.encode(authority.certificate()) + Pem.encode(otherPools.certificate()));
        MasterConfig config = new LoopbackMaster(POOL, "m-0", Files.createTempDirectory(folder, "lease"))
                .expecting("a")
                .timed(new ElectionTimes(3_000, 2_000, 100))
                .secured(new TlsPlace(Optional.of(directory), mode))
                .config();
        master = MasterProcess.start(config, PeerSocket.VERSIONS, (what, cause) -> {});
        node = new SocketNode(POOL, "a", Optional.of(context("node/a"))).dial(master.port());
        await().atMost(PATIENCE).until(() -> master.status().isLeader(Uptime.ms()));
    }

    @AfterEach
    void stop() throws IOException {
        node.close();
        master.close();
    }

    @Test
    void aWriterPutsAndAReaderReadsAndCannotWrite() throws Exception {
        try (CapturedLog audit = new CapturedLog("Audit");
                PeerSocket writer = client("tenant/default/rw/w");
                PeerSocket reader = client("tenant/default/ro/r")) {
            put(writer, "k");
            reader.send(new ExistsRequest(1, keys("k")));
            assertThat(reader.receive(ExistsReply.class).results().getFirst().status())
                    .isEqualTo(Status.OK);
            reader.send(new LookupRequest(2, keys("k")));
            assertThat(reader.receive(LookupReply.class).objects().getFirst().status())
                    .isEqualTo(Status.OK);
            writesAreRefused(reader);
            try (PeerSocket again = client("tenant/default/ro/r")) {
                writesAreRefused(again);
            }
            assertThat(refusals("right")).isEqualTo(12);
            assertThat(audit.lines())
                    .as("one a minute of each name and kind of message")
                    .hasSize(6)
                    .allMatch(
                            line -> line.matches(
                                    ".*\"principal\":\"tenant/default/ro/r\",\"serial\":\"[0-9a-f]+\",\"address\":\"127.0.0.1\","
                                            + "\"verb\":\"data [A-Za-z]+Request\",\"tenant\":\"default\",\"outcome\":\"refused\"}"));
            put(writer, "k2");
            assertThat(node.objects()).isEqualTo(2);
        }
        stillServes();
    }

    private static void writesAreRefused(PeerSocket client) throws IOException {
        client.send(new GrantRequest(3, 0, 1_000, false, List.of(new GrantKey(Key.of("x"), 100)), ""));
        assertThat(client.receive(GrantReply.class).status()).isEqualTo(Status.NOT_PERMITTED);
        Put put = new Put(new ObjectId(1, 1), PutOutcome.WRITTEN, List.of(), Key.of("x"));
        client.send(new PublishRequest(4, List.of(put)));
        assertThat(client.receive(PublishReply.class).status()).isEqualTo(Status.NOT_PERMITTED);
        client.send(new RemoveRequest(5, true, keys("k")));
        assertThat(client.receive(RemoveReply.class).status()).isEqualTo(Status.NOT_PERMITTED);
        client.send(new RemoveAllRequest(6, true, ""));
        assertThat(client.receive(RemoveAllReply.class).status()).isEqualTo(Status.NOT_PERMITTED);
        client.send(new HintRequest(7, Hint.RETAIN, 1_000, false, keys("k")));
        assertThat(client.receive(HintReply.class).status()).isEqualTo(Status.NOT_PERMITTED);
        client.send(new CopyRequest(8, Key.of("k"), "", List.of("a")));
        assertThat(client.receive(TaskReply.class).status()).isEqualTo(Status.NOT_PERMITTED);
    }

    @Test
    void agentsAndAdminsAreClientsAndMastersMayOnlyGreet() throws Exception {
        for (String name : List.of("agent/x", "admin/x")) {
            try (PeerSocket client = client(name)) {
                put(client, "of-" + name);
            }
        }
        try (PeerSocket client = client("master/m-1")) {
            client.send(new ExistsRequest(1, keys("k")));
            assertThat(client.receive(ExistsReply.class).status()).isEqualTo(Status.NOT_PERMITTED);
        }
        stillServes();
    }

    @Test
    void whoIsNoClientIsRefused() throws Exception {
        for (String name : List.of("node/a", "monitor", "operator")) {
            Refused refused = refused(context(name), Role.CLIENT, "x");
            assertThat(refused.code()).isEqualTo(RefusalCode.ROLE);
            assertThat(refused.message()).contains("the certificate is of " + name);
        }
        assertThat(refusals("role")).isEqualTo(3);
        stillServes();
    }

    @Test
    void aNodeIsOnlyWhoItsCertificateSays() throws Exception {
        Refused other = refused(context("node/b"), Role.NODE, "a");
        assertThat(other.code()).isEqualTo(RefusalCode.IDENTITY_MISMATCH);
        assertThat(other.message()).contains("node/b").contains("calls itself a");
        Refused tenant = refused(context("tenant/default/rw/w"), Role.NODE, "a");
        assertThat(tenant.code()).isEqualTo(RefusalCode.IDENTITY_MISMATCH);
        assertThat(tenant.message()).contains("only node/a may be it");
        assertThat(refusals("identity")).isEqualTo(2);
        for (String name : List.of("tenant/default/ro/r", "master/m-1", "admin/x", "monitor")) {
            assertThat(refused(context(name), Role.NODE, "engine-1").code()).isEqualTo(RefusalCode.ROLE);
        }
        stillServes();
    }

    @Test
    void anEngineMayContributeMemoryButNotBeAStorageNode() throws Exception {
        try (PeerSocket engine = engine("engine-1", true)) {
            await().atMost(PATIENCE)
                    .until(() -> master.status().nodes().stream()
                            .anyMatch(known -> known.id().equals("engine-1") && known.isTransient()));
            engine.send(new Heartbeat());
            assertThat(refusals("role")).isZero();
        }
        try (PeerSocket engine = engine("engine-2", false)) {
            assertThat(engine.receive()).isEmpty();
            assertThat(refusals("role")).isEqualTo(1);
        }
        stillServes();
    }

    private PeerSocket engine(String name, boolean isTransient) throws IOException {
        PeerSocket engine = PeerSocket.secure(master.port(), context("tenant/default/rw/w"));
        engine.send(PeerSocket.hello(Role.NODE, POOL, name, 99));
        engine.receive(Welcome.class);
        engine.send(info(isTransient));
        if (isTransient) { // else the master closes the connection, perhaps before more is sent
            engine.send(new SnapshotBegin(0));
            engine.send(new SnapshotEnd(0, 0));
        }
        return engine;
    }

    @Test
    void whoShowsNoCertificateIsRefused() throws Exception {
        refusedInTheHandshake(
                ServerTrust.context(List.of(authority.certificate()), (address, peer) -> Optional.empty()));
        assertThat(refusals("no_certificate")).isEqualTo(1);
        assertThat(metric("kvpool_tls_handshakes_total{result=\"failed\"}")).isPositive();
        stillServes();
    }

    @Test
    void anExpiredCertificateIsRefused() throws Exception {
        Instant past = Instant.now().minus(Duration.ofHours(3));
        Path directory = issue(authority, "tenant/default/rw/w", past, Duration.ofHours(1));
        refusedInTheHandshake(TlsContext.read(directory, past).context());
        assertThat(refusals("expired")).isEqualTo(1);
        stillServes();
    }

    @Test
    void aCertificateOfAnUnknownCaIsRefused() throws Exception {
        CertificateAuthority unknown = CertificateAuthority.create(POOL, Instant.now(), DAY);
        refusedInTheHandshake(believing(unknown, "tenant/default/rw/w"));
        assertThat(refusals("untrusted")).isEqualTo(1);
        stillServes();
    }

    @Test
    void aCertificateOfAnotherPoolIsRefusedEvenUnderATrustedCa() throws Exception {
        Refused refused = refused(believing(otherPools, "tenant/default/rw/w"), Role.CLIENT, "x");
        assertThat(refused.message()).contains("the certificate is of spiffe://" + new UUID(7, 7));
        assertThat(refusals("trust_domain")).isEqualTo(1);
        stillServes();
    }

    @Test
    void aPlainPeerIsToldThatTlsIsRequired() throws Exception {
        try (PeerSocket plain = new PeerSocket(master.port())) {
            plain.send(PeerSocket.hello(Role.CLIENT, POOL, "x", 1));
            Refused refused = plain.receive(Refused.class);
            assertThat(refused.message()).contains("requires TLS").contains("KVPOOL_TLS_DIR");
            assertThat(plain.receive()).isEmpty();
        }
        assertThat(refusals("plaintext")).isEqualTo(1);
        stillServes();
    }

    @Test
    void permissiveTakesBoth() throws Exception {
        stop();
        start(TlsMode.PERMISSIVE);
        try (PeerSocket plain = new PeerSocket(master.port());
                PeerSocket secure = client("tenant/default/rw/w")) {
            plain.send(PeerSocket.hello(Role.CLIENT, POOL, "x", 1));
            plain.receive(Welcome.class);
            put(plain, "plain");
            put(secure, "secure");
            assertThat(metric("kvpool_plaintext_connections{peer=\"client\"}")).isEqualTo(1);
            assertThat(metric("kvpool_plaintext_connections{peer=\"node\"}")).isZero();
        }
        await().atMost(PATIENCE).until(() -> metric("kvpool_plaintext_connections{peer=\"client\"}") == 0);
        refusedInTheHandshake(believing(CertificateAuthority.create(POOL, Instant.now(), DAY), "tenant/default/rw/w"));
    }

    /** A node that is away may hold what is a tenant's, though none has come yet; one number would take that too. */
    @Test
    void whereTenantsMayComeAPlainPeerRemovesOneByOne() throws Exception {
        stop();
        start(TlsMode.PERMISSIVE);
        try (PeerSocket plain = new PeerSocket(master.port())) {
            plain.send(PeerSocket.hello(Role.CLIENT, POOL, "x", 1));
            plain.receive(Welcome.class);
            put(plain, "k");
            node.close();
            await().atMost(PATIENCE).until(() -> metric("kvpool_master_nodes_ready") == 0);
            plain.send(new RemoveAllRequest(3, true, ""));
            assertThat(plain.receive(RemoveAllReply.class).status()).isEqualTo(Status.UNAVAILABLE);
        }
    }

    @Test
    void whoSendsTooMuchBeforeItIsKnownIsCutOff() throws Exception {
        byte[] endless = new byte[5 + (16 << 10)];
        endless[0] = 0x16;
        endless[1] = 3;
        endless[2] = 1;
        endless[3] = 0x40;
        cutOff(endless);
        assertThat(refusals("limit")).isEqualTo(1);
        stillServes();
    }

    @Test
    void bytesThatAreNoHandshakeEndTheConnection() throws Exception {
        cutOff(new byte[] {0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5});
        assertThat(refusals("handshake")).isEqualTo(1);
        stillServes();
    }

    private void cutOff(byte... bytes) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), master.port())) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            socket.getOutputStream().write(bytes);
            socket.getInputStream().readAllBytes();
        } catch (SocketException e) {
            assertThat(e).hasMessageMatching("(?i).*(reset|broken pipe).*");
        }
    }

    @Test
    void whoIsSlowOrSilentIsCutOff() throws Exception {
        try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), master.port());
                Socket slow = new Socket(InetAddress.getLoopbackAddress(), master.port())) {
            slow.getOutputStream().write(new byte[] {0x16, 3, 1, 0});
            for (Socket socket : List.of(silent, slow)) {
                socket.setSoTimeout((int) PATIENCE.toMillis());
                assertThat(socket.getInputStream().read())
                        .as("closed by the master")
                        .isEqualTo(-1);
            }
        }
        await().atMost(PATIENCE).until(() -> refusals("timeout") == 2);
        stillServes();
    }

    @Test
    void anAddressThatOpensManyKeepsNoOtherAddressOut() throws Exception {
        List<Socket> many = new ArrayList<>();
        try {
            for (int i = 0; i < 600; i++) {
                many.add(new Socket(InetAddress.getLoopbackAddress(), master.port()));
            }
            await().atMost(PATIENCE)
                    .until(() -> refusals("limit") >= 600 - 3 * 128); // its address is known; some seconds may pass
            try (PeerSocket other = PeerSocket.secure(
                    InetAddress.ofLiteral("127.0.0.2"), master.port(), context("tenant/default/rw/w"))) {
                other.send(PeerSocket.hello(Role.CLIENT, POOL, "client", 5));
                assertThat(other.receive(Welcome.class)).isNotNull();
            }
        } finally {
            for (Socket socket : many) {
                socket.close();
            }
        }
        stillServes();
    }

    @Test
    void aMasterIsProbedOverTls() throws Exception {
        Handshake.Self self = new Handshake.Self("m-1", POOL, 77, PeerSocket.VERSIONS);
        TlsContext tls = TlsContext.read(issue(authority, "master/m-1", Instant.now(), DAY), Instant.now());
        LeaderProbe probe = new LeaderProbe(self, () -> Optional.of(tls));
        String place = "127.0.0.1:" + master.port();
        long incarnation;
        try (PeerSocket socket = PeerSocket.secure(master.port(), context("tenant/default/rw/w"))) {
            socket.send(PeerSocket.hello(Role.CLIENT, POOL, "client", 5));
            incarnation = socket.receive(Welcome.class).incarnation();
        }

        assertThat(probe.look(place, incarnation)).isEqualTo(Finding.THERE);
        assertThat(probe.look(place, incarnation + 1)).isEqualTo(Finding.GONE);
        assertThat(new LeaderProbe(self, Optional::empty).look(place, incarnation))
                .isEqualTo(Finding.UNKNOWN);
        master.close();
        assertThat(probe.look(place, incarnation)).isEqualTo(Finding.GONE);
    }

    private static NodeInfo info(boolean isTransient) {
        return new NodeInfo(
                Authority.NONE,
                ObjectId.NONE,
                0,
                ObjectId.NONE,
                isTransient,
                Restored.NOTHING,
                1,
                ActiveVersions.UNKNOWN,
                List.of(new Segment(0, Medium.DRAM, 1 << 20, 10)),
                "127.0.0.1:1",
                "",
                "");
    }

    @Test
    void aTenantThatAsksForAKeyIsToldNothingOfTheWholePool() throws Exception {
        assertThat(get("admin/x", "/api/v1/key?key=k")).contains("\"unheard\"", "\"remembersSince\"");
        assertThat(get("tenant/t/ro/r", "/api/v1/key?key=k"))
                .contains("\"state\":\"absent\"")
                .doesNotContain("unheard", "remembersSince", "allRemovedAt");
    }

    private void stillServes() throws IOException, GeneralSecurityException {
        try (PeerSocket client = client("tenant/default/rw/again")) {
            put(client, "after-" + UUID.randomUUID());
        }
    }

    private void put(PeerSocket client, String key) throws IOException {
        client.send(new GrantRequest(1, 0, 10_000, false, List.of(new GrantKey(Key.of(key), 100)), ""));
        GrantReply grant = client.receive(GrantReply.class);
        assertThat(grant.status()).isEqualTo(Status.OK);
        ObjectId id = grant.grants().getFirst().objectId();
        node.commit(id, key, 100);
        client.send(new PublishRequest(
                2, List.of(new Put(id, PutOutcome.WRITTEN, List.of(SocketNode.INCARNATION), Key.of(key)))));
        assertThat(client.receive(PublishReply.class).results()).containsExactly(Status.OK);
    }

    private static List<Key> keys(String key) {
        return List.of(Key.of(key));
    }

    @Test
    void aClientsConnectionEndsWithItsCertificate() throws Exception {
        Instant end = Instant.now().plusSeconds(3);
        Path directory = issue(authority, "tenant/default/rw/w", Instant.now(), Duration.between(Instant.now(), end));
        try (PeerSocket client =
                        client(TlsContext.read(directory, Instant.now()).context());
                PeerSocket other = client("tenant/default/rw/other")) {
            put(client, "k");
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).until(() -> {
                other.send(new Heartbeat());
                return hasEnded(client);
            });
            assertThat(Instant.now()).isAfter(end.minusSeconds(1)); // certificates have whole seconds
            other.send(new ExistsRequest(2, keys("k")));
            other.receive(ExistsReply.class);
        }
        stillServes();
    }

    @Test
    void aProofOfANewerCertificateIsOfTheConnectionAndTheNode() throws Exception {
        Credentials own = credentials(authority, "node/a");
        try (PeerSocket first = nodeA();
                PeerSocket other = PeerSocket.secure(master.port(), context("node/b"))) {
            assertThat(answer(first, first.proofs().make(Prover.DIALER, own))).isEmpty();
            assertThat(answer(first, other.proofs().make(Prover.DIALER, own))).contains("does not fit");
            assertThat(answer(first, first.proofs().make(Prover.LISTENER, own))).contains("does not fit");
            assertThat(answer(first, first.proofs().make(Prover.DIALER, credentials(authority, "node/b"))))
                    .contains("is of node/b, the connection is of node/a");
            assertThat(answer(first, first.proofs().make(Prover.DIALER, credentials(authority, "master/m-0"))))
                    .contains("is of master/m-0");
            assertThat(answer(first, first.proofs().make(Prover.DIALER, credentials(otherPools, "node/a"))))
                    .contains("check the addresses");
            assertThat(refusals("proof")).isEqualTo(5);
            // Twice is once too often within half a second.
            first.send(first.proofs().make(Prover.DIALER, own));
            first.send(first.proofs().make(Prover.DIALER, own));
            await().atMost(PATIENCE).until(() -> first.receive().isEmpty());
        }
    }

    @Test
    void onlyStorageNodesProveCertificates() throws Exception {
        try (PeerSocket client = client("tenant/default/rw/w")) {
            client.send(client.proofs().make(Prover.DIALER, credentials(authority, "tenant/default/rw/w")));
            assertThat(client.receive()).isEmpty();
        }
        try (PeerSocket early = PeerSocket.secure(master.port(), context("node/a"))) {
            early.send(early.proofs().make(Prover.DIALER, credentials(authority, "node/a")));
            assertThat(early.receive(Refused.class).message()).contains("CertificateProof came");
        }
        stillServes();
    }

    /** It lasts beyond its first certificate, to the end of the second. */
    @Test
    void aNodesConnectionEndsWithTheLastCertificateItHasProven() throws Exception {
        Instant end = Instant.now().plusSeconds(14);
        try (PeerSocket brief = nodeA(contextUntil(end.minusSeconds(5)))) {
            Path newer = issue(authority, "node/a", Instant.now(), Duration.between(Instant.now(), end));
            Credentials credentials = TlsContext.read(newer, Instant.now()).credentials();
            assertThat(answer(brief, brief.proofs().make(Prover.DIALER, credentials)))
                    .isEmpty();
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(100)).until(() -> hasEnded(brief));
            assertThat(Instant.now()).isAfter(end.minusSeconds(1)); // certificates have whole seconds
        }
    }

    /** Of two connections that an authority's certificates have opened, the one stays that stands by the next authority's when the first is gone. */
    @Test
    void aRootThatIsGoneEndsConnectionsForWhichNoOtherWasProven() throws Exception {
        CertificateAuthority next = CertificateAuthority.create(POOL, Instant.now(), DAY);
        Credentials newer = credentials(next, "node/a");
        try (PeerSocket stays = nodeA();
                PeerSocket ends = client("tenant/default/rw/w")) {
            Files.writeString(
                    directory.resolve("ca.crt"), Pem.encode(authority.certificate()) + Pem.encode(next.certificate()));
            await().atMost(PATIENCE)
                    .until(() -> answer(stays, stays.proofs().make(Prover.DIALER, newer))
                            .isEmpty());
            assertThat(hasEnded(ends)).isFalse();
            Path byNext = issue(next, "master/m-0", Instant.now(), DAY);
            for (String file : List.of("tls.crt", "tls.key", "ca.crt")) {
                Files.copy(byNext.resolve(file), directory.resolve(file), StandardCopyOption.REPLACE_EXISTING);
            }
            await().atMost(PATIENCE.multipliedBy(2)).until(() -> hasEnded(ends));
            assertThat(hasEnded(stays)).isFalse();
        }
    }

    private SSLContext contextUntil(Instant end) throws Exception {
        Path brief = issue(authority, "node/a", Instant.now(), Duration.between(Instant.now(), end));
        return TlsContext.read(brief, Instant.now()).context();
    }

    private Credentials credentials(CertificateAuthority by, String name) throws Exception {
        return TlsContext.read(issue(by, name, Instant.now(), Duration.ofHours(1)), Instant.now())
                .credentials();
    }

    /** The connection of the expected storage node, in place of the one before; it tells nothing. */
    private PeerSocket nodeA() throws Exception {
        return nodeA(context("node/a"));
    }

    private PeerSocket nodeA(SSLContext context) throws IOException {
        PeerSocket socket = PeerSocket.secure(master.port(), context);
        socket.send(PeerSocket.hello(Role.NODE, POOL, "a", SocketNode.INCARNATION));
        socket.receive(Welcome.class);
        return socket;
    }

    private static String answer(PeerSocket node, CertificateProof proof) throws IOException, InterruptedException {
        for (int beat = 0; beat < 3; beat++) {
            Thread.sleep(200); // a node leaves that much between two proofs
            node.send(new Heartbeat());
        }
        node.send(proof);
        Optional<Message> message = node.receive();
        while (message.isPresent() && !(message.get() instanceof CertificateProven)) {
            message = node.receive();
        }
        return ((CertificateProven) message.orElseThrow()).problem();
    }

    /** Whether the master has closed a connection on which heartbeats are sent. */
    private static boolean hasEnded(PeerSocket client) {
        try {
            client.send(new Heartbeat());
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    private PeerSocket client(String name) throws IOException {
        return client(context(name));
    }

    private PeerSocket client(SSLContext context) throws IOException {
        PeerSocket socket = PeerSocket.secure(master.port(), context);
        socket.send(PeerSocket.hello(Role.CLIENT, POOL, "client", 5));
        socket.receive(Welcome.class);
        return socket;
    }

    private Refused refused(SSLContext context, Role role, String name) throws IOException {
        try (PeerSocket socket = PeerSocket.secure(master.port(), context)) {
            socket.send(PeerSocket.hello(role, POOL, name, 5));
            Refused refused = socket.receive(Refused.class);
            assertThat(socket.receive()).isEmpty();
            return refused;
        }
    }

    /** In TLS 1.3 a client learns of it only when it reads. */
    private void refusedInTheHandshake(SSLContext context) {
        assertThatThrownBy(() -> {
                    try (PeerSocket socket = PeerSocket.secure(master.port(), context)) {
                        socket.send(PeerSocket.hello(Role.CLIENT, POOL, "x", 5));
                        socket.receive(Welcome.class);
                    }
                })
                .isInstanceOfAny(IOException.class, AssertionError.class);
    }

    private SSLContext context(String name) throws IOException {
        return TlsContext.read(issue(authority, name, Instant.now(), DAY), Instant.now())
                .context();
    }

    private SSLContext believing(CertificateAuthority by, String name) throws IOException {
        return IssuedCertificates.foreign(folder, by, authority, name).context();
    }

    private Path issue(CertificateAuthority by, String name, Instant from, Duration life) throws IOException {
        return IssuedCertificates.issue(folder, by, name, from, life);
    }

    private long refusals(String reason) throws IOException {
        return metric("kvpool_auth_refusals_total{reason=\"" + reason + "\"}");
    }

    private String get(String name, String path) throws IOException {
        return AdminCaller.with(TlsContext.read(issue(authority, name, Instant.now(), DAY), Instant.now()))
                .get(new HostPort("127.0.0.1", master.secureAdminPort().orElseThrow()), path, PATIENCE, PATIENCE)
                .body();
    }

    private long metric(String series) throws IOException {
        String scrape = get("monitor", "/metrics");
        return scrape.lines()
                .filter(line -> line.startsWith(series + " "))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(series.length())))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + series + " in " + Map.of("scrape", scrape.length())));
    }
}
