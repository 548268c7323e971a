// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.name.PeerName;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The JDK's HTTP client, as the operator uses it, and servers with good and with bad certificates. */
class ServerTrustTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Duration DAY = Duration.ofDays(1);

    private final CertificateAuthority authority = CertificateAuthority.create(POOL, Instant.now(), DAY);
    private final AtomicInteger answered = new AtomicInteger();
    private HttpsServer server;

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void whoIsMeantAnswersUnderAnyAddress() throws Exception {
        serve(authority, "master/m-0", Instant.now());
        AtomicReference<String> dialled = new AtomicReference<>();
        SSLContext context = ServerTrust.context(List.of(authority.certificate()), (address, peer) -> {
            dialled.set(address);
            return ServerTrust.unless(name("master/m-0"), peer);
        });
        assertThat(get(context)).isEqualTo(200);
        assertThat(dialled).hasValue("127.0.0.1");
    }

    @Test
    void anotherNameIsRefusedBeforeTheRequestIsSent() throws Exception {
        for (String other : List.of("master/m-1", "node/m-0", "tenant/default/rw/m-0")) {
            serve(authority, other, Instant.now());
            assertThatThrownBy(() -> get(meaning("master/m-0")))
                    .isInstanceOf(SSLHandshakeException.class)
                    .hasMessageContaining(
                            "the other side is spiffe://" + POOL + "/" + other + ", which is not who was meant");
            server.stop(0);
        }
        assertThat(answered).hasValue(0);
    }

    @Test
    void anotherPoolIsRefusedAlsoUnderATrustedRoot() throws Exception {
        CertificateAuthority other = CertificateAuthority.create(new UUID(7, 7), Instant.now(), DAY);
        serve(other, "master/m-0", Instant.now());
        List<X509Certificate> both = List.of(authority.certificate(), other.certificate());
        SSLContext context = ServerTrust.context(both, (address, peer) -> ServerTrust.unless(name("master/m-0"), peer));
        assertThatThrownBy(() -> get(context))
                .isInstanceOf(SSLHandshakeException.class)
                .hasMessageContaining("spiffe://" + new UUID(7, 7));
        assertThat(answered).hasValue(0);
    }

    @Test
    void aCertificateOfAnotherCaOrOutOfDateIsRefused() throws Exception {
        serve(CertificateAuthority.create(POOL, Instant.now(), DAY), "master/m-0", Instant.now());
        assertThatThrownBy(() -> get(meaning("master/m-0")))
                .isInstanceOf(SSLHandshakeException.class)
                .hasMessageContaining("does not chain with any of the trust anchors");
        server.stop(0);
        serve(authority, "master/m-0", Instant.now().minus(Duration.ofDays(2)));
        assertThatThrownBy(() -> get(meaning("master/m-0")))
                .isInstanceOf(SSLHandshakeException.class)
                .hasMessageContaining("validity check failed");
        assertThat(answered).hasValue(0);
    }

    @Test
    void aCertificateThatIsNoneOfAMemberIsRefused() throws Exception {
        serve(List.of(authority.certificate()), authority.key()); // the CA itself leads to the root, but is no member
        assertThatThrownBy(() -> get(meaning("master/m-0"))).isInstanceOf(SSLHandshakeException.class);
        assertThat(answered).hasValue(0);
    }

    private SSLContext meaning(String path) {
        return ServerTrust.context(
                List.of(authority.certificate()), (address, peer) -> ServerTrust.unless(name(path), peer));
    }

    private static PeerName name(String path) {
        return PeerName.ofPath(POOL, path);
    }

    private void serve(CertificateAuthority by, String path, Instant at) throws IOException, GeneralSecurityException {
        CertificateAuthority.Issued issued = by.issue(PeerName.ofPath(by.poolId(), path), List.of(), at, DAY);
        serve(List.of(issued.certificate()), issued.key());
    }

    private void serve(List<X509Certificate> chain, PrivateKey key) throws IOException, GeneralSecurityException {
        char[] password = {};
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        store.setKeyEntry("own", key, password, chain.toArray(X509Certificate[]::new));
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(store, password);
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(
                new HttpsConfigurator(PoolTls.context(keys.getKeyManagers(), PoolTls.trust(chain))));
        server.createContext("/", exchange -> {
            answered.incrementAndGet();
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
    }

    private int get(SSLContext context) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newBuilder()
                .sslContext(context)
                .sslParameters(PoolTls.parameters())
                .connectTimeout(Duration.ofSeconds(20))
                .build()) {
            URI uri = URI.create("https://127.0.0.1:" + server.getAddress().getPort() + "/role");
            return client.send(
                            HttpRequest.newBuilder(uri)
                                    .timeout(Duration.ofSeconds(20))
                                    .build(),
                            HttpResponse.BodyHandlers.discarding())
                    .statusCode();
        }
    }
}
