// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.cert.IssuedDirectory;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.peer.Refusal;
import dev.kvpool.wire.Verb;
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
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What each port answers in each mode, asked over real connections. */
class AdminServersTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final AdminPorts ANY = new AdminPorts("127.0.0.1", 0, 0);

    private static final List<Route> ROUTES = Verb.routes().stream()
            .map(route -> route.split(" ", -1))
            .map(words -> new Route(words[0], words[1], _ -> Response.text(200, "done")))
            .toList();

    private final CertificateAuthority authority = CertificateAuthority.create(POOL, Instant.now(), Duration.ofDays(1));

    @TempDir
    Path folder;

    @Test
    void withoutTlsThePlainPortAnswersEverything() throws IOException {
        try (AdminServers servers = AdminServers.start(ANY, ROUTES, PoolSecurity.off())) {
            assertThat(servers.securePort()).isEmpty();
            for (Route route : ROUTES) {
                assertThat(plain(servers, route).body()).as(name(route)).isEqualTo("done");
            }
        }
    }

    @Test
    void permissiveAnswersPlainAllButEnrolmentAndAsksForRightsOverHttps() throws IOException {
        try (PoolSecurity security = security(TlsMode.PERMISSIVE);
                AdminServers servers = AdminServers.start(ANY, ROUTES, security)) {
            for (Route route : ROUTES) {
                HttpResponse<String> answer = plain(servers, route);
                if (Verb.ofRoute(route.method(), route.path()).orElseThrow() == Verb.ENROL) {
                    assertThat(answer.statusCode()).isEqualTo(403);
                    assertThat(answer.body())
                            .contains("HTTPS only: port " + servers.securePort().orElseThrow());
                } else {
                    assertThat(answer.body()).as(name(route)).isEqualTo("done");
                }
            }
            rightsAreAskedFor(servers);
        }
    }

    @Test
    void requiredAnswersPlainHealthVersionAndMetricsOnly() throws IOException {
        Set<Verb> open = Set.of(Verb.HEALTH, Verb.METRICS);
        try (PoolSecurity security = security(TlsMode.REQUIRED);
                AdminServers servers = AdminServers.start(ANY, ROUTES, security)) {
            for (Route route : ROUTES) {
                HttpResponse<String> answer = plain(servers, route);
                if (open.contains(Verb.ofRoute(route.method(), route.path()).orElseThrow())) {
                    assertThat(answer.body()).as(name(route)).isEqualTo("done");
                } else {
                    assertThat(answer.statusCode()).as(name(route)).isEqualTo(403);
                    assertThat(answer.body())
                            .contains(name(route) + " is answered over HTTPS only: port "
                                    + servers.securePort().orElseThrow() + " (--secure-admin-port)");
                }
            }
            assertThat(plain(servers, Route.get("/nowhere", _ -> Response.text(200, "")))
                            .statusCode())
                    .isEqualTo(403);
            assertThat(security.counts().refusals(Refusal.PLAINTEXT)).isPositive();
            rightsAreAskedFor(servers);
        }
    }

    @Test
    void aPortThatIsTakenIsNamedWithItsFlag() throws IOException {
        try (PoolSecurity security = security(TlsMode.REQUIRED);
                ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();
            assertThatThrownBy(() -> AdminServers.start(new AdminPorts("127.0.0.1", 0, port), ROUTES, security))
                    .hasMessageContainingAll(Integer.toString(port), "choose another --secure-admin-port");
            assertThatThrownBy(() -> AdminServers.start(new AdminPorts("127.0.0.1", port, 0), ROUTES, security))
                    .hasMessageContainingAll(Integer.toString(port), "choose another --admin-port");
        }
    }

    private void rightsAreAskedFor(AdminServers servers) throws IOException {
        HostPort secure = new HostPort("127.0.0.1", servers.securePort().orElseThrow());
        AdminCaller admin = AdminCaller.with(TlsContext.read(issue("admin/a"), Instant.now()));
        AdminCaller monitor = AdminCaller.with(TlsContext.read(issue("monitor"), Instant.now()));
        assertThat(admin.get(secure, "/api/v1/key", LONG, LONG).status()).isEqualTo(200);
        assertThat(monitor.get(secure, "/api/v1/pool", LONG, LONG).status()).isEqualTo(200);
        assertThat(monitor.get(secure, "/api/v1/key", LONG, LONG).status()).isEqualTo(403);
        AdminCaller stranger = AdminCaller.trusting(List.of(authority.certificate()), Set.of(POOL));
        assertThat(stranger.get(secure, "/api/v1/pool", LONG, LONG).status()).isEqualTo(401);
    }

    private static String name(Route route) {
        return route.method() + " " + route.path();
    }

    private static HttpResponse<String> plain(AdminServers servers, Route route) throws IOException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + servers.port() + route.path());
            return client.send(
                    HttpRequest.newBuilder(uri)
                            .timeout(LONG)
                            .method(route.method(), HttpRequest.BodyPublishers.noBody())
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private PoolSecurity security(TlsMode mode) throws IOException {
        return PoolSecurity.open(new TlsPlace(Optional.of(issue("master/m")), mode), name -> Optional.empty());
    }

    private Path issue(String name) throws IOException {
        Path directory = folder.resolve(name.replace('/', '-'));
        IssuedDirectory.write(
                directory,
                authority,
                authority.issue(PeerName.ofPath(POOL, name), List.of(), Instant.now(), Duration.ofHours(1)));
        return directory;
    }
}
