// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.cert.IssuedDirectory;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.secure.HandshakeBounds;
import dev.kvpool.dataplane.secure.IssuedCertificates;
import dev.kvpool.dataplane.secure.Rights;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.secure.TlsIdentity;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.peer.Refusal;
import dev.kvpool.identity.peer.ServerTrust;
import dev.kvpool.wire.Actor;
import dev.kvpool.wire.Verb;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HTTPS with rights over real connections, asked by good and by bad clients. */
class AdminAccessTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final Duration DAY = Duration.ofDays(1);

    private final CertificateAuthority authority = CertificateAuthority.create(POOL, Instant.now(), DAY);
    private final TlsCounts counts = new TlsCounts();
    private final AtomicInteger answered = new AtomicInteger();
    private TlsIdentity identity;
    private AdminServer server;

    @TempDir
    Path folder;

    @BeforeEach
    void start() throws IOException {
        identity = TlsIdentity.open(directory("master/m"), name -> Optional.empty(), InstantSource.system());
        List<Route> routes = new ArrayList<>(List.of(Route.post("/unlisted", this::answer)));
        for (String route : Verb.routes()) {
            String[] words = route.split(" ", -1);
            routes.add(new Route(words[0], words[1], this::answer));
        }
        server = AdminServer.start(
                "127.0.0.1", 0, routes, new AdminAccess(identity, counts, Optional.empty(), unhurried()));
    }

    /** Bounds whose clock goes so fast that a test may ask as often as it likes. */
    private HandshakeBounds unhurried() {
        AtomicLong uptimeMs = new AtomicLong();
        return new HandshakeBounds(256, () -> uptimeMs.addAndGet(1_000));
    }

    private Response answer(Request request) {
        answered.incrementAndGet();
        return Response.text(200, "done");
    }

    @AfterEach
    void stop() {
        server.close();
        identity.close();
    }

    @Test
    void everyRoleMayAskWhatTheTableSays() throws IOException {
        List<String> names = List.of(
                "admin/a", "operator", "monitor", "agent/a", "node/a", "master/a", "tenant/t/rw/a", "tenant/t/ro/a");
        for (String name : names) {
            TlsContext tls = context(authority, name);
            for (String route : Verb.routes()) {
                String[] words = route.split(" ", -1);
                Verb verb = Verb.ofRoute(words[0], words[1]).orElseThrow();
                int before = answered.get();
                Said said = ask(tls.context(), words[0], words[1]);
                if (Rights.allow(PeerName.ofPath(POOL, name), verb)) {
                    assertThat(said).as("%s of %s", route, name).isEqualTo(new Said(200, "done"));
                } else {
                    assertThat(said.status()).as("%s of %s", route, name).isEqualTo(403);
                    assertThat(said.body()).contains(name + " may not " + words[0] + " " + words[1]);
                    assertThat(answered.get()).as("not even tried").isEqualTo(before);
                }
            }
        }
        assertThat(counts.refusals(Refusal.RIGHT)).isPositive();
    }

    @Test
    void withoutACertificateOnlyHealthAndEnrolmentAnswer() throws IOException {
        SSLContext trusting = trustingOnly();
        int closed = 0;
        for (String route : Verb.routes()) {
            String[] words = route.split(" ", -1);
            boolean open = Verb.ofRoute(words[0], words[1]).orElseThrow().isOf(Actor.ANONYMOUS);
            Said said = ask(trusting, words[0], words[1]);
            assertThat(said.status()).as(route).isEqualTo(open ? 200 : 401);
            assertThat(said.body()).contains(open ? "done" : "kvpool cert issue");
            closed += open ? 0 : 1;
        }
        assertThat(counts.refusals(Refusal.NO_CERTIFICATE)).isEqualTo(closed).isPositive();
        stillServes();
    }

    @Test
    void whoAskedIsToldToTheAudit() throws IOException {
        List<RequestAudit.Asked> asked = new CopyOnWriteArrayList<>();
        server.close();
        server = AdminServer.start(
                "127.0.0.1",
                0,
                List.of(Route.post("/api/v1/drain", this::answer)),
                new AdminAccess(identity, counts, Optional.empty()),
                (request, status, refused) -> asked.add(request));
        TlsContext operator = context(authority, "operator");

        ask(operator.context(), "POST", "/api/v1/drain?node=a&tenant=chat");
        ask(trustingOnly(), "POST", "/api/v1/drain");

        assertThat(asked)
                .containsExactly(
                        new RequestAudit.Asked(
                                new Caller(
                                        Optional.of(PeerName.ofPath(POOL, "operator")),
                                        operator.credentials()
                                                .chain()
                                                .getFirst()
                                                .getSerialNumber()
                                                .toString(16),
                                        InetAddress.ofLiteral("127.0.0.1"),
                                        operator.credentials()
                                                .chain()
                                                .getFirst()
                                                .getNotAfter()
                                                .toInstant()),
                                "POST",
                                "/api/v1/drain",
                                Optional.of("chat")),
                        new RequestAudit.Asked(
                                Caller.unknown(InetAddress.ofLiteral("127.0.0.1")),
                                "POST",
                                "/api/v1/drain",
                                Optional.empty()));
    }

    @Test
    void aRouteThatIsNotInTheTableIsAnsweredToNone() throws IOException {
        assertThat(ask(context(authority, "admin/a").context(), "POST", "/unlisted")
                        .status())
                .isEqualTo(403);
        assertThat(ask(context(authority, "admin/a").context(), "GET", "/nowhere")
                        .status())
                .isEqualTo(403);
    }

    @Test
    void aCertificateOfAnotherCaIsRefusedInTheHandshake() throws IOException {
        CertificateAuthority other = CertificateAuthority.create(POOL, Instant.now(), DAY);
        refusedInTheHandshake(IssuedCertificates.foreign(folder, other, authority, "admin/a"));
        assertThat(counts.refusals(Refusal.UNTRUSTED)).isPositive();
        assertThat(counts.failedHandshakes()).isPositive();
        stillServes();
    }

    @Test
    void anExpiredCertificateIsRefusedInTheHandshake() throws IOException {
        Instant past = Instant.now().minus(Duration.ofHours(3));
        Path directory = folder.resolve("expired");
        IssuedDirectory.write(
                directory,
                authority,
                authority.issue(PeerName.ofPath(POOL, "admin/a"), List.of(), past, Duration.ofHours(1)));
        refusedInTheHandshake(TlsContext.read(directory, past));
        assertThat(counts.refusals(Refusal.EXPIRED)).isPositive();
        stillServes();
    }

    @Test
    void aCertificateOfAnotherPoolUnderATrustedCaIsRefused() throws IOException {
        CertificateAuthority other = CertificateAuthority.create(new UUID(7, 7), Instant.now(), DAY);
        Files.writeString(
                folder.resolve("master/ca.crt"), Pem.encode(authority.certificate()) + Pem.encode(other.certificate()));
        identity.close();
        server.close();
        identity = TlsIdentity.open(folder.resolve("master"), name -> Optional.empty(), InstantSource.system());
        server = AdminServer.start(
                "127.0.0.1",
                0,
                List.of(Route.get("/role", this::answer)),
                new AdminAccess(identity, counts, Optional.empty()));

        Said said = ask(
                IssuedCertificates.foreign(folder, other, authority, "admin/a").context(), "GET", "/role");

        assertThat(said.status()).isEqualTo(403);
        assertThat(said.body()).contains("the certificate is of spiffe://" + new UUID(7, 7) + "/admin/a");
        assertThat(counts.refusals(Refusal.TRUST_DOMAIN)).isEqualTo(1);
    }

    @Test
    void plainRequestsAndBytesThatAreNoTlsGetNothing() throws IOException {
        for (String bytes : List.of(
                "GET /api/v1/pool HTTP/1.1\r\nHost: x\r\n\r\n", "\u0016\u0003\u0001\u0001", "\u0000".repeat(70_000))) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                socket.setSoTimeout(20_000);
                socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
                socket.shutdownOutput();
                String said = new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
                assertThat(said).doesNotContain("done").doesNotContain("HTTP/1.1 200");
            } catch (SocketException e) {
                assertThat(e).hasMessageMatching("(?i).*(reset|broken pipe).*");
            }
        }
        assertThat(answered).hasValue(0);
        stillServes();
    }

    @Test
    void olderTlsIsRefused() throws IOException {
        try (SSLSocket socket = (SSLSocket)
                context(authority, "admin/a").context().getSocketFactory().createSocket("127.0.0.1", server.port())) {
            socket.setEnabledProtocols(new String[] {"TLSv1.2"});
            assertThatThrownBy(socket::startHandshake).isInstanceOf(IOException.class);
        }
        stillServes();
    }

    @Test
    void handshakesThatOneAddressLeavesOpenKeepNoOtherAddressOut() throws IOException {
        server.close();
        server = AdminServer.start(
                "127.0.0.1",
                0,
                List.of(Route.get("/role", this::answer)),
                new AdminAccess(identity, counts, Optional.empty()));
        List<Socket> open = new ArrayList<>();
        try {
            for (int i = 0; i < 300; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
                open.add(socket);
                socket.getOutputStream().write(new byte[] {0x16, 3, 1, 0});
            }
            await().until(() -> counts.refusals(Refusal.LIMIT) > 0);
            try (Socket plain = new Socket()) {
                plain.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.2"), 0));
                plain.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
                try (SSLSocket other = (SSLSocket) context(authority, "admin/a")
                        .context()
                        .getSocketFactory()
                        .createSocket(plain, null, server.port(), true)) {
                    other.setSoTimeout((int) LONG.toMillis());
                    assertThat(askOn(other)).isEqualTo(200);
                }
            }
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }

    @Test
    void aNewCertificateServesNewConnections() throws IOException {
        List<Instant> ends = new ArrayList<>();
        for (Duration life : List.of(Duration.ofHours(2), Duration.ofHours(3))) {
            IssuedDirectory.write(
                    folder.resolve("master"),
                    authority,
                    authority.issue(PeerName.ofPath(POOL, "master/m"), List.of(), Instant.now(), life));
            identity.look();
            try (SSLSocket socket = (SSLSocket) context(authority, "admin/a")
                    .context()
                    .getSocketFactory()
                    .createSocket("127.0.0.1", server.port())) {
                socket.startHandshake();
                ends.add(((X509Certificate) socket.getSession().getPeerCertificates()[0])
                        .getNotAfter()
                        .toInstant());
            }
        }
        assertThat(Duration.between(ends.get(0), ends.get(1)))
                .isBetween(Duration.ofMinutes(55), Duration.ofMinutes(65));
    }

    @Test
    void aRootThatIsRemovedIsNotBelievedOnAConnectionOfBefore() throws IOException {
        CertificateAuthority other = CertificateAuthority.create(POOL, Instant.now(), DAY);
        SSLContext client =
                IssuedCertificates.foreign(folder, other, authority, "admin/a").context();
        trust(authority, other);
        try (SSLSocket kept = (SSLSocket) client.getSocketFactory().createSocket("127.0.0.1", server.port())) {
            kept.setSoTimeout((int) LONG.toMillis());
            assertThat(askOn(kept)).isEqualTo(200);
            trust(authority);
            int before = answered.get();
            assertThat(askOn(kept)).isEqualTo(403);
            assertThat(kept.getInputStream().read()).as("closed by the server").isEqualTo(-1);
            assertThat(answered).hasValue(before);
        }
        assertThat(counts.refusals(Refusal.UNTRUSTED)).isEqualTo(1);
        stillServes();
    }

    /** Whether this process resumes sessions depends on what ran in it before, so it is refused in the handshake or after it. */
    @Test
    void aRootThatIsRemovedIsNotBelievedOnASessionThatIsResumed() throws IOException {
        CertificateAuthority other = CertificateAuthority.create(POOL, Instant.now(), DAY);
        SSLContext client =
                IssuedCertificates.foreign(folder, other, authority, "admin/a").context();
        trust(authority, other);
        assertThat(ask(client, "GET", "/role")).isEqualTo(new Said(200, "done"));
        trust(authority);
        int before = answered.get();
        try {
            assertThat(ask(client, "GET", "/role").status()).isEqualTo(403);
        } catch (IOException e) {
            assertThat(client.getClientSessionContext().getIds().hasMoreElements())
                    .as("could resume")
                    .isFalse();
        }
        assertThat(answered).hasValue(before);
        assertThat(counts.refusals(Refusal.UNTRUSTED)).isPositive();
    }

    @Test
    void aRootThatIsRemovedEndsWhatIsStillWritten() throws IOException {
        CertificateAuthority other = CertificateAuthority.create(POOL, Instant.now(), DAY);
        SSLContext client =
                IssuedCertificates.foreign(folder, other, authority, "admin/a").context();
        trust(authority, other);
        CompletableFuture<IOException> end = new CompletableFuture<>();
        server.close();
        server = AdminServer.start(
                "127.0.0.1",
                0,
                List.of(Route.get("/api/v1/events", _ -> Response.jsonLines(out -> writeMuch(out, end)))),
                new AdminAccess(identity, counts, Optional.empty()));
        try (SSLSocket reader = (SSLSocket) client.getSocketFactory().createSocket("127.0.0.1", server.port())) {
            reader.setSoTimeout((int) LONG.toMillis());
            reader.getOutputStream()
                    .write("GET /api/v1/events HTTP/1.1\r\nHost: m\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            assertThat(reader.getInputStream().readNBytes(1_000)).hasSize(1_000);
            trust(authority);
            assertThat(reader.getInputStream().readAllBytes()).isNotNull();
        }
        assertThat(end.join()).hasMessageContaining("root that is not trusted any more");
    }

    private static void writeMuch(OutputStream out, CompletableFuture<IOException> end) throws IOException {
        try {
            for (int i = 0; i < 1_000_000; i++) {
                out.write("{}\n".getBytes(StandardCharsets.US_ASCII));
                out.flush();
            }
            end.complete(new IOException("all of it was taken"));
        } catch (IOException e) {
            end.complete(e);
            throw e;
        }
    }

    private void trust(CertificateAuthority... roots) throws IOException {
        StringBuilder bundle = new StringBuilder();
        for (CertificateAuthority root : roots) {
            bundle.append(Pem.encode(root.certificate()));
        }
        Files.writeString(folder.resolve("master/ca.crt"), bundle);
        identity.look();
    }

    /** The status of an answer, all of which is read. */
    private static int askOn(SSLSocket socket) throws IOException {
        socket.getOutputStream().write("GET /role HTTP/1.1\r\nHost: m\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) socket.getInputStream().read());
        }
        Matcher length = Pattern.compile("(?i)content-length: (\\d+)").matcher(head);
        assertThat(length.find()).as(head.toString()).isTrue();
        socket.getInputStream().readNBytes(Integer.parseInt(length.group(1)));
        return Integer.parseInt(head.substring("HTTP/1.1 ".length(), "HTTP/1.1 200".length()));
    }

    @Test
    void theCallerKnowsWhoAnswers() throws IOException {
        HostPort place = new HostPort("127.0.0.1", server.port());
        assertThat(AdminCaller.with(context(authority, "admin/a"))
                        .get(place, "/role", LONG, LONG)
                        .body())
                .isEqualTo("done");
        CertificateAuthority other = CertificateAuthority.create(POOL, Instant.now(), DAY);
        Path stranger = folder.resolve("stranger");
        IssuedDirectory.write(
                stranger, other, other.issue(PeerName.ofPath(POOL, "admin/a"), List.of(), Instant.now(), DAY));
        AdminCaller strange = AdminCaller.with(TlsContext.read(stranger, Instant.now()));
        assertThatThrownBy(() -> strange.get(place, "/role", LONG, LONG)).isInstanceOf(SSLException.class);
        assertThatThrownBy(() -> AdminCaller.PLAIN.get(place, "/role", LONG, LONG))
                .isInstanceOf(IOException.class);
    }

    @Test
    void theCallerTalksToMembersOnly() throws IOException {
        try (TlsIdentity client =
                        TlsIdentity.open(directory("tenant/t/rw/a"), name -> Optional.empty(), InstantSource.system());
                AdminServer impostor = AdminServer.start(
                        "127.0.0.1",
                        0,
                        List.of(Route.get("/role", this::answer)),
                        new AdminAccess(client, counts, Optional.empty()))) {
            AdminCaller caller = AdminCaller.with(context(authority, "admin/a"));
            assertThatThrownBy(() -> caller.get(new HostPort("127.0.0.1", impostor.port()), "/role", LONG, LONG))
                    .hasMessageContaining("the other side is tenant/t/rw/a, which is not who was meant");
            assertThat(answered).hasValue(0);
        }
    }

    private record Said(int status, String body) {}

    private void stillServes() throws IOException {
        assertThat(ask(context(authority, "admin/a").context(), "GET", "/role")).isEqualTo(new Said(200, "done"));
    }

    private void refusedInTheHandshake(TlsContext client) {
        int before = answered.get();
        assertThatThrownBy(() -> ask(client.context(), "GET", "/role")).isInstanceOf(IOException.class);
        assertThat(answered).hasValue(before);
    }

    private Said ask(SSLContext context, String method, String path) throws IOException {
        HttpsURLConnection connection = (HttpsURLConnection)
                URI.create("https://127.0.0.1:" + server.port() + path).toURL().openConnection();
        connection.setSSLSocketFactory(context.getSocketFactory());
        connection.setHostnameVerifier((host, session) -> true);
        connection.setRequestMethod(method);
        connection.setReadTimeout((int) LONG.toMillis());
        try {
            int status = connection.getResponseCode();
            try (InputStream body = status < HttpURLConnection.HTTP_BAD_REQUEST
                    ? connection.getInputStream()
                    : connection.getErrorStream()) {
                return new Said(status, new String(body.readAllBytes(), StandardCharsets.UTF_8));
            }
        } finally {
            connection.disconnect();
        }
    }

    private Path directory(String name) throws IOException {
        Path directory = folder.resolve(name.substring(0, name.indexOf('/')));
        IssuedDirectory.write(
                directory, authority, authority.issue(PeerName.ofPath(POOL, name), List.of(), Instant.now(), DAY));
        return directory;
    }

    private TlsContext context(CertificateAuthority by, String name) throws IOException {
        return TlsContext.read(IssuedCertificates.issue(folder, by, name, Instant.now(), DAY), Instant.now());
    }

    private SSLContext trustingOnly() {
        return ServerTrust.context(List.of(authority.certificate()), (address, peer) -> Optional.empty());
    }
}
