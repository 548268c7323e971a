// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.scale;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.CertificateAuthority.Issued;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.master.http.ServerKeys;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * The same masters by TLS 1.3, each with a certificate that the authority of its pool has signed. Java's HTTPS server has one certificate for all of its
 * addresses, so this one reads the few lines of a request itself. Tokens are not looked at.
 */
final class SecureMasters implements SimulatedCluster.Voice, AutoCloseable {
    private static final Duration DAY = Duration.ofDays(1);
    private static final int WAITING = 1024;

    /** What a pool's authority signs with, and what its processes trust. */
    private record Signer(CertificateAuthority authority, PoolTrust trust) {}

    private final KubernetesClient client;
    private final SimulatedMasters words;
    private final Map<String, Signer> signers = new ConcurrentHashMap<>();
    private final Map<String, SSLContext> contexts = new ConcurrentHashMap<>();
    private final ServerSocket door;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /**
     * Listens.
     *
     * @param client may read Secrets
     * @param words what each says
     * @throws IOException when another process listens on the port
     */
    SecureMasters(int port, KubernetesClient client, SimulatedMasters words) throws IOException {
        this.client = client;
        this.words = words;
        door = new ServerSocket(port, WAITING);
        threads.execute(this::accept);
    }

    @Override
    public void say(SimulatedCluster.Master master, PoolReport report) {
        Signer signer = signers.computeIfAbsent(master.namespace() + "/" + master.pool(), any -> signer(master));
        contexts.computeIfAbsent(master.address(), any -> context(signer, master.pod()));
        String digest = signer.trust().bundle().digest();
        List<PoolReport.TrustOfMember> members = report.nodes().stream()
                .map(node -> new PoolReport.TrustOfMember(
                        "node/" + node.id(), digest, signer.trust().fingerprint(), null, 0))
                .toList();
        words.say(master, Reports.trusting(new PoolReport.Trust(digest, null, members), report));
    }

    private Signer signer(SimulatedCluster.Master master) {
        ConfigMap map = client.configMaps()
                .inNamespace(master.namespace())
                .withName(master.pool() + "-trust")
                .require();
        PoolTrust trust = PoolTrust.of(map);
        Secret secret = client.secrets()
                .inNamespace(master.namespace())
                .withName(master.pool() + "-ca-" + trust.fingerprint())
                .require();
        var certificate = Pem.certificates(text(secret, "ca.crt")).getFirst();
        return new Signer(
                new CertificateAuthority(
                        CertificateAuthority.poolId(certificate),
                        certificate,
                        Pem.privateKey(text(secret, "ca.key")),
                        List.of(certificate)),
                trust);
    }

    private static String text(Secret secret, String file) {
        return new String(Base64.getDecoder().decode(secret.getData().get(file)), StandardCharsets.US_ASCII);
    }

    private static SSLContext context(Signer signer, String pod) {
        CertificateAuthority authority = signer.authority();
        Issued issued =
                authority.issue(PeerName.ofPath(authority.poolId(), "master/" + pod), List.of(), Instant.now(), DAY);
        try {
            return ServerKeys.context(issued);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("a certificate that cannot be used", e);
        }
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = door.accept();
                threads.execute(() -> serve(socket));
            }
        } catch (SocketException e) {
            // closed
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void serve(Socket plain) {
        String address = plain.getLocalAddress().getHostAddress();
        SSLContext context = contexts.get(address);
        try (plain) {
            if (context == null) {
                return;
            }
            try (SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, null, true)) {
                InputStream in = new BufferedInputStream(socket.getInputStream());
                while (readRequest(in)) {
                    write(socket.getOutputStream(), words.ask(address));
                }
            }
        } catch (IOException e) {
            // The operator has closed it, or was stopped.
        }
    }

    /** A request without a body, up to its empty line; false at the end of the connection. */
    private static boolean readRequest(InputStream in) throws IOException {
        int ofEnd = 0;
        for (int next = in.read(); next >= 0; next = in.read()) {
            ofEnd = next == "\r\n\r\n".charAt(ofEnd) ? ofEnd + 1 : next == '\r' ? 1 : 0;
            if (ofEnd == 4) {
                return true;
            }
        }
        return false;
    }

    private static void write(OutputStream out, byte[] body) throws IOException {
        byte[] head = (body == null
                        ? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
                        : "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n".formatted(body.length))
                .getBytes(StandardCharsets.US_ASCII);
        byte[] all = new byte[head.length + (body == null ? 0 : body.length)];
        System.arraycopy(head, 0, all, 0, head.length);
        if (body != null) {
            System.arraycopy(body, 0, all, head.length, body.length);
        }
        out.write(all);
        out.flush();
    }

    @Override
    public void close() throws IOException {
        door.close();
        threads.shutdownNow();
    }
}
