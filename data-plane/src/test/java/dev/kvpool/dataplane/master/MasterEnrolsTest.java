// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.cert.AuthorityDirectory;
import dev.kvpool.dataplane.cert.IssuedDirectory;
import dev.kvpool.dataplane.cli.CommandRunner;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.cli.StopSignal;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.enrol.EnrolCommand;
import dev.kvpool.dataplane.enrol.EnrolmentSettings;
import dev.kvpool.dataplane.enrol.TokenIssuer;
import dev.kvpool.dataplane.http.AdminAccess;
import dev.kvpool.dataplane.http.AdminAnswer;
import dev.kvpool.dataplane.http.AdminCaller;
import dev.kvpool.dataplane.http.AdminServer;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.secure.TlsIdentity;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.peer.PoolTls;
import dev.kvpool.identity.peer.ServerTrust;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code kvpool enrol} against a real master: the certificate that it writes opens what its role may. */
class MasterEnrolsTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration LONG = Duration.ofSeconds(20);

    private final TokenIssuer issuer = TokenIssuer.rsa("key-1");
    private final CertificateAuthority authority = CertificateAuthority.create(POOL, Instant.now(), Duration.ofDays(9));
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private MasterProcess master;
    private Path roots;

    @TempDir
    Path folder;

    /** Asks as the operator does: by the JDK's client, which believes the pool's roots and this master only. */
    private HttpResponse<String> ask(MasterProcess of, String name, String method, String path, String... headers)
            throws IOException, InterruptedException {
        try (HttpClient client = client("127.0.0.1", name)) {
            return ask(client, of, method, path, headers);
        }
    }

    private HttpClient client(String source, String name) {
        PeerName meant = PeerName.ofPath(POOL, name);
        return HttpClient.newBuilder()
                .localAddress(InetAddress.ofLiteral(source))
                .sslContext(ServerTrust.context(
                        List.of(authority.certificate()), (address, peer) -> ServerTrust.unless(meant, peer)))
                .sslParameters(PoolTls.parameters())
                .build();
    }

    private static HttpResponse<String> ask(
            HttpClient client, MasterProcess of, String method, String path, String... headers)
            throws IOException, InterruptedException {
        URI uri = URI.create("https://127.0.0.1:" + of.secureAdminPort().orElseThrow() + path);
        HttpRequest.Builder request =
                HttpRequest.newBuilder(uri).timeout(LONG).method(method, HttpRequest.BodyPublishers.noBody());
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private String ofTheAuthority() {
        return "kvpool.dev/" + POOL + "/" + CertificateAuthority.fingerprint(authority.certificate());
    }

    private String token(String account, String audience) {
        return issuer.token(TokenIssuer.claims(
                audience, "mon", account, Instant.now(), Instant.now().plusSeconds(600)));
    }

    @Test
    void aTokenOfAnOperatorAdminOrMonitorIsAsGoodAsItsCertificate() throws Exception {
        rules("mon/prometheus monitor\nmon/admin admin\nmon/operator operator\n");
        for (String account : List.of("prometheus", "admin", "operator")) {
            String token = token(account, account.equals("operator") ? ofTheAuthority() : "kvpool.dev/" + POOL);
            assertThat(ask(master, "master/m-0", "GET", "/api/v1/pool", Request.TOKEN, token)
                            .statusCode())
                    .as(account)
                    .isEqualTo(200);
            assertThat(ask(master, "master/m-0", "GET", "/api/v1/pool", "Authorization", "bearer " + token)
                            .statusCode())
                    .as(account)
                    .isEqualTo(200);
        }
        HttpResponse<String> refused = ask(
                master, "master/m-0", "POST", "/api/v1/remove_all", Request.TOKEN, token("operator", ofTheAuthority()));
        assertThat(refused.statusCode()).isEqualTo(403);
        assertThat(refused.body()).contains("operator may not POST /api/v1/remove_all");
    }

    @Test
    void changesOfQuotasAreRefusedWithTheRemedyAndToAdminsAlone() throws Exception {
        rules("mon/admin admin\nmon/operator operator\n");
        String path = "/api/v1/tenant_quotas?tenant_id=chat";
        for (String method : List.of("PUT", "DELETE")) {
            String admin = token("admin", "kvpool.dev/" + POOL);
            HttpResponse<String> refused = ask(master, "master/m-0", method, path, Request.TOKEN, admin);
            assertThat(refused.statusCode()).isEqualTo(409);
            assertThat(refused.body()).contains("restart all of them with other --tenant-quotas");
            assertThat(ask(master, "master/m-0", method, path, Request.TOKEN, token("operator", ofTheAuthority()))
                            .statusCode())
                    .isEqualTo(403);
        }
    }

    @Test
    void aPodThatFloodsKeepsNoOtherOut() throws Exception {
        String audience = "kvpool.dev/" + POOL;
        String monitor = token("prometheus", audience);
        assertThat(ask(master, "master/m-0", "GET", "/api/v1/pool", Request.TOKEN, monitor)
                        .statusCode())
                .isEqualTo(200);
        Map<Integer, Integer> said = new TreeMap<>();
        // It keeps its connection: on a busy machine there is no time for 21 handshakes in a second.
        try (HttpClient flood = client("127.0.0.9", "master/m-0")) {
            for (int i = 0; i < 2000 && said.getOrDefault(429, 0) < 3; i++) {
                HttpResponse<String> answer = ask(
                        flood,
                        master,
                        i % 2 == 0 ? "GET" : "POST",
                        i % 2 == 0 ? "/api/v1/pool" : "/api/v1/enrol?key=AA&proof=AA",
                        Request.TOKEN,
                        "x.y." + i);
                said.merge(answer.statusCode(), 1, Integer::sum);
                if (answer.statusCode() == 429) {
                    assertThat(answer.body()).contains("more than 20 a second from one address");
                    assertThat(ask(flood, master, "GET", "/api/v1/pool", Request.TOKEN, monitor)
                                    .statusCode())
                            .as("a token that is known")
                            .isEqualTo(200);
                    assertThat(enrol("prometheus"))
                            .as(err.toString(StandardCharsets.UTF_8))
                            .isEqualTo(ExitCode.OK);
                }
            }
        }
        assertThat(said).containsOnlyKeys(401, 429);
    }

    @Test
    void tokensOfMembersAndTenantsAndBadOnesAreRefused() throws Exception {
        rules("mon/engine tenant team-a rw\nmon/node node\nmon/agent agent\nmon/admin admin\n");
        String audience = "kvpool.dev/" + POOL;
        for (String account : List.of("engine", "node", "agent")) {
            HttpResponse<String> said =
                    ask(master, "master/m-0", "GET", "/metrics", Request.TOKEN, token(account, audience));
            assertThat(said.statusCode()).as(account).isEqualTo(403);
            assertThat(said.body()).contains("may not use its token in place of a certificate: enrol");
        }
        String good = token("admin", audience);
        Map<String, Integer> bad = Map.of(
                token("stranger", audience),
                403,
                token("admin", "kvpool.dev/" + new UUID(7, 7)),
                401,
                good.substring(0, good.length() - 4) + "AAAA",
                401,
                "x.y.z",
                401,
                "a".repeat(9000),
                401);
        for (Map.Entry<String, Integer> each : bad.entrySet()) {
            HttpResponse<String> said = ask(master, "master/m-0", "GET", "/api/v1/pool", Request.TOKEN, each.getKey());
            assertThat(said.statusCode()).as(said.body()).isEqualTo(each.getValue());
        }
        assertThat(ask(master, "master/m-0", "GET", "/api/v1/pool").statusCode())
                .isEqualTo(401);
        assertThat(ask(master, "master/m-0", "GET", "/api/v1/pool", "Authorization", "Basic " + good)
                        .statusCode())
                .isEqualTo(401);
        AdminAnswer plain = AdminCaller.PLAIN.post(
                new HostPort("127.0.0.1", master.adminPort()), "/api/v1/remove_all", good, LONG, LONG);
        assertThat(plain.status()).as("over plain HTTP no token opens anything").isEqualTo(403);
    }

    @Test
    void aMasterWithoutADirectorySignsItsOwnCertificate() throws Exception {
        try (MasterProcess second = MasterProcess.start(
                new LoopbackMaster(POOL, "m-1", folder)
                        .secured(new TlsPlace(Optional.empty(), TlsMode.PERMISSIVE))
                        .enrolling(place())
                        .config(),
                PeerSocket.VERSIONS,
                (what, cause) -> {})) {
            String token = token("prometheus", "kvpool.dev/" + POOL);
            assertThat(ask(second, "master/m-1", "GET", "/api/v1/pool", Request.TOKEN, token)
                            .statusCode())
                    .isEqualTo(200);
            assertThatThrownBy(() -> ask(second, "master/m-0", "GET", "/api/v1/pool", Request.TOKEN, token))
                    .hasMessageContaining("master/m-1, which is not who was meant");
        }
    }

    /** Files are looked at once a second. */
    private void rules(String text) throws IOException {
        Files.writeString(folder.resolve("rules"), text);
        String last = text.strip().lines().toList().getLast();
        String name = last.substring(last.indexOf('/') + 1, last.indexOf(' '));
        await().atMost(LONG)
                .until(() -> !ask(
                                master,
                                "master/m-0",
                                "GET",
                                "/api/v1/pool",
                                Request.TOKEN,
                                token(name, "kvpool.dev/" + POOL))
                        .body()
                        .contains("has no part"));
    }

    private EnrolmentSettings.Place place() {
        return new EnrolmentSettings.Place(
                Optional.of(folder.resolve("ca")),
                folder.resolve("rules"),
                Optional.of(folder.resolve("keys")),
                EnrolmentSettings.LIFE_MAX);
    }

    @BeforeEach
    void start() throws IOException, InterruptedException {
        AuthorityDirectory.write(folder.resolve("ca"), authority);
        roots = folder.resolve("ca/ca.crt");
        IssuedDirectory.write(
                folder.resolve("m"),
                authority,
                authority.issue(PeerName.ofPath(POOL, "master/m-0"), List.of(), Instant.now(), Duration.ofDays(1)));
        Files.writeString(folder.resolve("keys"), issuer.keySet());
        Files.writeString(folder.resolve("rules"), "mon/prometheus monitor\n");
        master = MasterProcess.start(
                new LoopbackMaster(POOL, "m-0", folder)
                        .secured(new TlsPlace(Optional.of(folder.resolve("m")), TlsMode.REQUIRED))
                        .enrolling(place())
                        .config(),
                PeerSocket.VERSIONS,
                (what, cause) -> {});
    }

    @AfterEach
    void stop() {
        master.close();
    }

    private HostPort admin() {
        return new HostPort("127.0.0.1", master.secureAdminPort().orElseThrow());
    }

    private int enrol(String account) throws IOException {
        return enrol(account, "127.0.0.1:1," + admin()); // nothing listens at the first
    }

    private int enrol(String account, String admins) throws IOException {
        String token = issuer.token(TokenIssuer.claims(
                "kvpool.dev/" + POOL,
                "mon",
                account,
                Instant.now(),
                Instant.now().plusSeconds(600)));
        return enrolWith(token, admins);
    }

    private int enrolWith(String token, String admins) throws IOException {
        Files.writeString(folder.resolve("token"), token + "\n");
        Console console = new Console(
                InputStream.nullInputStream(),
                new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                new StopSignal());
        return new CommandRunner(List.of(new EnrolCommand()), Map.of(), console)
                .run(
                        "enrol",
                        "--admins=" + admins,
                        "--token-file=" + folder.resolve("token"),
                        "--roots=" + roots,
                        "--out=" + folder.resolve("mine"),
                        "--once");
    }

    @Test
    void theCertificateOpensWhatItsRoleMay() throws Exception {
        assertThat(enrol("prometheus")).as(err.toString(StandardCharsets.UTF_8)).isEqualTo(ExitCode.OK);

        AdminCaller caller = AdminCaller.with(TlsContext.read(folder.resolve("mine"), Instant.now()));
        assertThat(caller.get(admin(), "/metrics", LONG, LONG).status()).isEqualTo(200);
        AdminAnswer refused = caller.post(admin(), "/api/v1/remove_all", "", LONG, LONG);
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.body()).contains("monitor may not POST /api/v1/remove_all");
    }

    @Test
    void anAccountGetsItsPartWhenTheRulesSaySoAndNotBefore() throws Exception {
        assertThat(enrol("other")).isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("127.0.0.1:1", "403", "ServiceAccount mon/other has no part in this pool");
        assertThat(folder.resolve("mine")).doesNotExist();

        Files.writeString(folder.resolve("rules"), "mon/other admin\n");
        await().atMost(LONG).untilAsserted(() -> assertThat(enrol("other")).isEqualTo(ExitCode.OK));
        AdminCaller caller = AdminCaller.with(TlsContext.read(folder.resolve("mine"), Instant.now()));
        assertThat(caller.get(admin(), "/api/v1/pool", LONG, LONG).status()).isEqualTo(200);
    }

    @Test
    void aRequestWithoutATokenOrAKeyIsTold() throws IOException {
        AdminCaller caller = AdminCaller.trusting(List.of(authority.certificate()), Set.of(POOL));

        assertThat(caller.post(admin(), "/api/v1/enrol", "x.y.z", LONG, LONG).status())
                .isEqualTo(400);
        AdminAnswer none = caller.get(admin(), "/api/v1/enrol", LONG, LONG);
        assertThat(none.status()).isEqualTo(401);
        AdminAnswer bad = caller.post(admin(), "/api/v1/enrol?key=AA&proof=AA", "x.y.z", LONG, LONG);
        assertThat(bad.status()).isEqualTo(401);
        assertThat(bad.body()).contains("this is no token of a ServiceAccount");
        AdminAnswer empty = caller.post(admin(), "/api/v1/enrol?key=AA&proof=AA", "", LONG, LONG);
        assertThat(empty.status()).isEqualTo(401);
        assertThat(empty.body()).contains(Request.TOKEN);
    }

    @Test
    void aStorageNodeIsNotToldTheToken() throws IOException {
        IssuedDirectory.write(
                folder.resolve("n"),
                authority,
                authority.issue(PeerName.ofPath(POOL, "node/n-0"), List.of(), Instant.now(), Duration.ofDays(1)));
        List<String> told = new CopyOnWriteArrayList<>();
        Route route = Route.post("/api/v1/enrol", request -> {
            told.add(request.token().orElse("nothing"));
            return Response.text(200, "{}");
        });
        try (TlsIdentity node =
                        TlsIdentity.open(folder.resolve("n"), name -> Optional.empty(), InstantSource.system());
                AdminServer server = AdminServer.start(
                        "127.0.0.1", 0, List.of(route), new AdminAccess(node, new TlsCounts(), Optional.empty()))) {
            AdminCaller caller = AdminCaller.trusting(List.of(authority.certificate()), Set.of(POOL));
            assertThatThrownBy(() ->
                            caller.post(new HostPort("127.0.0.1", server.port()), "/api/v1/enrol", "t", LONG, LONG))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("node/n-0, which is not who was meant");
        }
        assertThat(told).isEmpty();
    }

    /** Where several pools have the same roots, the token says which of them is meant. */
    @Test
    void aMasterOfAnotherPoolOfTheSameRootsIsNotToldTheToken() throws Exception {
        UUID other = new UUID(7, 7);
        CertificateAuthority same = CertificateAuthority.create(other, Instant.now(), Duration.ofDays(1));
        roots = folder.resolve("both");
        Files.writeString(roots, Pem.encode(authority.certificate()) + Pem.encode(same.certificate()));
        IssuedDirectory.write(
                folder.resolve("o"),
                same,
                same.issue(PeerName.ofPath(other, "master/m-0"), List.of(), Instant.now(), Duration.ofDays(1)));
        List<String> told = new CopyOnWriteArrayList<>();
        Route route = Route.post("/api/v1/enrol", request -> {
            told.add(request.token().orElse("nothing"));
            return Response.text(200, "{}");
        });
        try (TlsIdentity stranger =
                        TlsIdentity.open(folder.resolve("o"), name -> Optional.empty(), InstantSource.system());
                AdminServer server = AdminServer.start(
                        "127.0.0.1", 0, List.of(route), new AdminAccess(stranger, new TlsCounts(), Optional.empty()))) {
            assertThat(enrol("prometheus", "127.0.0.1:" + server.port())).isEqualTo(ExitCode.FAILURE);
        }
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("it is a master of pool " + other + ", and the token is for pool " + POOL);
        assertThat(told).isEmpty();
    }

    @Test
    void aTokenThatIsForNoPoolIsNotShown() throws Exception {
        String elsewhere = issuer.token(TokenIssuer.claims(
                "https://other.example",
                "mon",
                "prometheus",
                Instant.now(),
                Instant.now().plusSeconds(600)));
        for (String token : List.of(elsewhere, "x.y.z", "xyz", "x.eyJhdWQiOjB9.z")) {
            err.reset();
            assertThat(enrolWith(token, admin().toString())).isEqualTo(ExitCode.FAILURE);
            assertThat(err.toString(StandardCharsets.UTF_8))
                    .contains(folder.resolve("token") + " has ")
                    .containsAnyOf(
                            "not for a pool; its audience must be kvpool.dev/POOL-ID", "no token of a ServiceAccount");
        }
    }

    @Test
    void aMasterOfAnotherPoolIsNotToldTheToken() throws IOException {
        CertificateAuthority other = CertificateAuthority.create(POOL, Instant.now(), Duration.ofDays(1));
        Files.writeString(folder.resolve("ca/ca.crt"), Pem.encode(other.certificate()));

        assertThat(enrol("prometheus")).isEqualTo(ExitCode.FAILURE);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("PKIX");
    }
}
