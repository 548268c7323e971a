// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.http.AdminAccess;
import dev.kvpool.dataplane.http.AdminServer;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.secure.IssuedCertificates;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.secure.TlsIdentity;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.peer.ServerTrust;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In a process of its own: what the JDK read of its settings it keeps. */
class SessionsAreNotResumedTest {
    @TempDir
    Path folder;

    @Test
    void alsoWhereAClientOfTheApiServerWasMadeFirst() throws Exception {
        List<String> command = new ArrayList<>(ChildJvm.command(Server.class, ChildJvm.SMALL, ChildJvm.NATIVE));
        command.add(folder.toString());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertThat(process.waitFor()).as(said).isZero();
        assertThat(said).endsWith("2 handshakes in full\n");
    }

    /** A process of ours that serves HTTPS, and a client that keeps what it could resume by. */
    static final class Server {
        private Server() {}

        public static void main(String[] arguments) throws IOException {
            assertThat(Kvpool.COMMANDS).isNotEmpty(); // as the first class of all our processes
            HttpClient.newHttpClient().close();

            Path folder = Path.of(arguments[0]);
            Instant now = Instant.now();
            Duration life = Duration.ofHours(1);
            CertificateAuthority authority = CertificateAuthority.create(UUID.randomUUID(), now, life);
            Path own = IssuedCertificates.issue(folder, authority, "master/m", now, life);
            AtomicInteger full = new AtomicInteger();
            SSLContext client = ServerTrust.context(List.of(authority.certificate()), (address, peer) -> {
                full.incrementAndGet(); // of a session that is resumed no certificate is shown
                return Optional.empty();
            });
            try (TlsIdentity identity = TlsIdentity.open(own, name -> Optional.empty(), InstantSource.system());
                    AdminServer server = AdminServer.start(
                            "127.0.0.1",
                            0,
                            List.of(Route.get("/healthz", request -> Response.text(200, "well"))),
                            new AdminAccess(identity, new TlsCounts(), Optional.empty()))) {
                ask(client, server.port());
                ask(client, server.port());
                System.out.print(full + " handshakes in full\n");
            }
        }

        private static void ask(SSLContext client, int port) throws IOException {
            try (SSLSocket socket = (SSLSocket) client.getSocketFactory().createSocket("127.0.0.1", port)) {
                socket.getOutputStream()
                        .write("GET /healthz HTTP/1.1\r\nHost: m\r\nConnection: close\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
                assertThat(answer).startsWith("HTTP/1.1 200");
            }
        }
    }
}
