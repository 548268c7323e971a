// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.CertificateAuthority.Issued;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterEndpoint;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The operator says who it is to a master of the pool that is meant, and to nothing else that answers at its address. */
class SecureMastersTest {
    private static final UUID POOL = UUID.fromString("11111111-2222-3333-4444-555555555555");
    private static final UUID OTHER = UUID.fromString("99999999-2222-3333-4444-555555555555");
    private static final Duration DAY = Duration.ofDays(1);
    /** What a machine with other work needs for the first handshakes of a JVM. */
    private static final Duration LONG = Duration.ofSeconds(30);

    private final Instant now = Instant.now();
    private final CertificateAuthority authority = CertificateAuthority.create(POOL, now, DAY);
    private final List<String> tokens = new CopyOnWriteArrayList<>();
    private ExecutorService threads;
    private HttpsServer server;
    private volatile int status = 200;
    private volatile String answer = "{}";

    @BeforeEach
    void threads() {
        threads = Executors.newCachedThreadPool();
    }

    @AfterEach
    void stop() {
        if (server != null) {
            server.stop(0);
        }
        threads.close();
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1", "::1"})
    void aMasterOfThePoolIsShownAToken(String host) throws Exception {
        serve(host, authority.issue(PeerName.ofPath(POOL, "master/demo-master-0"), List.of(), now, DAY));

        assertThat(ask(host, authority.roots())).isInstanceOf(MasterAnswer.Report.class);
        assertThat(client().handOver(endpoint(host, authority.roots()))).isEmpty();
        client().leaderGone(List.of(endpoint(host, authority.roots())), "h", 1, "l");
        assertThat(tokens)
                .containsExactly(
                        "/api/v1/pool token-of-" + audience(),
                        "/api/v1/handover token-of-" + audience(),
                        "/api/v1/leader_gone token-of-" + audience());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "master/demo-master-1   | which is not who was meant: spiffe://11111111-2222-3333-4444-555555555555/master/demo-master-0",
                "node/demo-master-0     | the other side is spiffe://11111111-2222-3333-4444-555555555555/node/demo-master-0",
                "tenant/a/rw/x          | the other side is spiffe://11111111-2222-3333-4444-555555555555/tenant/a/rw/x",
                "operator               | the other side is spiffe://11111111-2222-3333-4444-555555555555/operator",
            })
    void anotherMemberGetsNone(String name, String sentence) throws Exception {
        serve("127.0.0.1", authority.issue(PeerName.ofPath(POOL, name), List.of("localhost"), now, DAY));

        refused(authority.roots(), sentence);
    }

    @Test
    void aMasterOfAnotherPoolGetsNoneThoughTheSameAuthorityHasSigned() throws Exception {
        // Its name is of another pool, which this authority would not sign, so the meant one is changed instead.
        serve("127.0.0.1", authority.issue(PeerName.ofPath(POOL, "master/demo-master-0"), List.of(), now, DAY));
        MasterEndpoint endpoint = new MasterEndpoint(
                "127.0.0.1",
                Optional.of(new MasterEndpoint.Identity("demo", OTHER.toString(), "demo-master-0", authority.roots())));

        assertThat(client().ask(Map.of("m", endpoint)).get("m"))
                .isInstanceOfSatisfying(
                        MasterAnswer.Silent.class,
                        silent -> assertThat(silent.reason()).contains("spiffe://" + OTHER));
        assertThat(tokens).isEmpty();
    }

    @Test
    void anotherAuthorityIsNotBelieved() throws Exception {
        CertificateAuthority stranger = CertificateAuthority.create(POOL, now, DAY);
        serve("127.0.0.1", stranger.issue(PeerName.ofPath(POOL, "master/demo-master-0"), List.of(), now, DAY));

        refused(authority.roots(), "the connection failed");
    }

    @Test
    void anExpiredCertificateIsNotBelieved() throws Exception {
        Instant before = now.minus(Duration.ofHours(3));
        serve(
                "127.0.0.1",
                CertificateAuthority.create(POOL, before, DAY)
                        .issue(PeerName.ofPath(POOL, "master/demo-master-0"), List.of(), before, Duration.ofHours(1)));

        refused(authority.roots(), "the connection failed");
    }

    @ParameterizedTest
    @CsvSource({"''", "x", "'-----BEGIN CERTIFICATE-----'"})
    void rootsThatCannotBeUsedAreNamed(String roots) throws Exception {
        serve("127.0.0.1", authority.issue(PeerName.ofPath(POOL, "master/demo-master-0"), List.of(), now, DAY));

        refused(roots, "the certificates that the pool trusts cannot be used");
    }

    @Test
    void withoutATokenNothingIsAsked() throws Exception {
        serve("127.0.0.1", authority.issue(PeerName.ofPath(POOL, "master/demo-master-0"), List.of(), now, DAY));
        HttpMasterClient without = new HttpMasterClient(1, server.getAddress().getPort(), poolId -> {
            throw new IOException("the API server gives no token");
        });

        assertThat(without.ask(Map.of("m", endpoint("127.0.0.1", authority.roots())))
                        .get("m"))
                .isInstanceOfSatisfying(
                        MasterAnswer.Silent.class,
                        silent -> assertThat(silent.reason()).contains("the API server gives no token"));
        assertThat(without.handOver(endpoint("127.0.0.1", authority.roots())))
                .hasValueSatisfying(why -> assertThat(why).contains("the API server gives no token"));
        assertThat(tokens).isEmpty();
    }

    private void refused(String roots, String sentence) {
        assertThat(ask("127.0.0.1", roots))
                .isInstanceOfSatisfying(
                        MasterAnswer.Silent.class,
                        silent -> assertThat(silent.reason()).contains(sentence));
        assertThat(tokens).as("what the other side got to see").isEmpty();
    }

    private MasterAnswer ask(String host, String roots) {
        return client().ask(Map.of("m", endpoint(host, roots))).get("m");
    }

    private String audience() {
        return "kvpool.dev/%s/%s".formatted(POOL, CertificateAuthority.fingerprint(authority.certificate()));
    }

    /** With two roots it would not be known which of them verified the master, and so for which the token may be. */
    @Test
    void withMoreThanOneRootNothingIsAsked() throws Exception {
        serve("127.0.0.1", authority.issue(PeerName.ofPath(POOL, "master/demo-master-0"), List.of(), now, DAY));
        refused(
                authority.roots() + CertificateAuthority.create(POOL, now, DAY).roots(),
                "there are 2 of them, and one is the pool's");
    }

    private HttpMasterClient client() {
        return new HttpMasterClient(
                1, server.getAddress().getPort(), audience -> "token-of-" + audience, LONG, LONG, LONG);
    }

    private static MasterEndpoint endpoint(String host, String roots) {
        return new MasterEndpoint(
                host, Optional.of(new MasterEndpoint.Identity("demo", POOL.toString(), "demo-master-0", roots)));
    }

    /** What is wrong with a token, or which right is missing, is known there only. */
    @ParameterizedTest
    @CsvSource({"401", "403", "413", "429", "503"})
    void whatAMasterSaysOfARefusalIsShown(int refusal) throws Exception {
        status = refusal;
        answer = "the token expired\u0007\r\n" + "x".repeat(5000);
        serve("127.0.0.1", authority.issue(PeerName.ofPath(POOL, "master/demo-master-0"), List.of(), now, DAY));

        String sentence = "it answered with HTTP status " + refusal + ": the token expired???xxx";
        assertThat(ask("127.0.0.1", authority.roots()))
                .isInstanceOfSatisfying(
                        MasterAnswer.Silent.class,
                        silent -> assertThat(silent.reason())
                                .startsWith(sentence)
                                .hasSizeLessThan(300)
                                .doesNotContainPattern("\\p{Cntrl}"));
        assertThat(client().handOver(endpoint("127.0.0.1", authority.roots())))
                .hasValueSatisfying(why -> assertThat(why).startsWith(sentence).hasSizeLessThan(300));
    }

    @ParameterizedTest
    @CsvSource({"401, 2", "403, 0"})
    void aTokenThatAMasterDoesNotKnowIsNotKept(int refusal, int dropped) throws Exception {
        status = refusal;
        serve("127.0.0.1", authority.issue(PeerName.ofPath(POOL, "master/demo-master-0"), List.of(), now, DAY));
        List<String> refused = new CopyOnWriteArrayList<>();
        PoolTokens kept = new PoolTokens() {
            @Override
            public String token(String audience) {
                return "kept";
            }

            @Override
            public void refused(String token) {
                refused.add(token);
            }
        };
        HttpMasterClient asking = new HttpMasterClient(1, server.getAddress().getPort(), kept, LONG, LONG, LONG);

        asking.ask(Map.of("m", endpoint("127.0.0.1", authority.roots())));
        asking.handOver(endpoint("127.0.0.1", authority.roots()));

        assertThat(refused).hasSize(dropped).allMatch("kept"::equals);
    }

    private void serve(String host, Issued issued) throws IOException, GeneralSecurityException {
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getByName(host), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(ServerKeys.context(issued)));
        server.createContext("/", exchange -> {
            tokens.add(exchange.getRequestURI().getPath() + " "
                    + exchange.getRequestHeaders().getFirst("X-Kvpool-Token"));
            byte[] body = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(threads);
        server.start();
    }
}
