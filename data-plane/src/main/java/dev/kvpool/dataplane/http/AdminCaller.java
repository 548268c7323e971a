// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.secure.RefusedCertificateException;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import dev.kvpool.identity.peer.ServerTrust;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;

/** Asks admin endpoints, for commands; over HTTPS with a certificate where the pool requires it. */
public final class AdminCaller {
    private static final int BODY_BYTES_MAX = 4 << 20;
    private static final Set<PeerRole> MEMBERS = EnumSet.of(PeerRole.MASTER, PeerRole.NODE, PeerRole.AGENT);

    static {
        // A connection that ends without an answer would be made again, and the token sent to whom nothing is known
        // about.
        System.setProperty("sun.net.http.retryPost", "false");
    }

    /** Over HTTP. */
    public static final AdminCaller PLAIN = new AdminCaller(Optional.empty(), Optional.empty());

    private final Optional<SSLContext> https;
    private final Optional<String> token;

    private AdminCaller(Optional<SSLContext> https, Optional<String> token) {
        this.https = https;
        this.token = token;
    }

    /** Over HTTPS with these credentials; the other side must be a member of the same pool. */
    public static AdminCaller with(TlsContext tls) {
        PeerName own = tls.credentials().name();
        return new AdminCaller(
                Optional.of(ServerTrust.context(
                        new KeyManager[] {tls.keys()},
                        tls.credentials().roots(),
                        tls.credentials().foreign(),
                        (address, peer) -> problem(peer, own))),
                Optional.empty());
    }

    /**
     * Over HTTPS without a certificate, for a process that wants one: the other side must be a master of such a pool.
     *
     * @param pools that the token is for; roots alone may be those of several
     */
    public static AdminCaller trusting(List<X509Certificate> roots, Set<UUID> pools) {
        return trusting(roots, ForeignNames.NONE, pools);
    }

    /**
     * As {@link #trusting(List, Set)}, where others make the certificates of masters.
     *
     * @param foreign what those stand for
     */
    public static AdminCaller trusting(List<X509Certificate> roots, ForeignNames foreign, Set<UUID> pools) {
        Set<UUID> meant = Set.copyOf(pools);
        return new AdminCaller(
                Optional.of(ServerTrust.context(
                        new KeyManager[0],
                        roots,
                        foreign,
                        (address, peer) ->
                                problem(peer, Set.of(PeerRole.MASTER)).or(() -> problemOfPool(peer, meant)))),
                Optional.empty());
    }

    /** The same, with a token in place of a certificate for each {@link #get}, once the other side is known to be who was meant. */
    public AdminCaller showing(String shown) {
        if (https.isEmpty()) {
            throw new IllegalStateException("a token is shown over HTTPS only");
        }
        return new AdminCaller(https, Optional.of(shown));
    }

    private static Optional<String> problemOfPool(PeerName peer, Set<UUID> meant) {
        return meant.contains(peer.trustDomain())
                ? Optional.empty()
                : Optional.of("it is a master of pool " + peer.trustDomain() + ", and the token is for pool "
                        + meant.stream().map(UUID::toString).sorted().limit(3).collect(Collectors.joining(", "))
                        + "; check the addresses of masters, and the audience of the token");
    }

    private static Optional<String> problem(PeerName peer, PeerName own) {
        return peer.trustDomain().equals(own.trustDomain())
                ? problem(peer, MEMBERS)
                : Optional.of("the certificate is of " + peer.uri() + ", this process is " + own.uri()
                        + "; check the addresses and the certificate");
    }

    private static Optional<String> problem(PeerName peer, Set<PeerRole> meant) {
        return meant.contains(peer.role())
                ? Optional.empty()
                : Optional.of("the other side is " + peer.path() + ", which is not who was meant");
    }

    /**
     * As these settings say: HTTPS where TLS is on, so the addresses must be those of HTTPS ports.
     *
     * @throws RefusedCertificateException with the file, the cause and how to fix it
     */
    public static AdminCaller of(TlsPlace place) throws RefusedCertificateException {
        return place.mode() != TlsMode.OFF
                ? with(TlsContext.read(place.directory().orElseThrow(), Instant.now()))
                : PLAIN;
    }

    /**
     * Asks and waits.
     *
     * @param connect how long the connection may take
     * @param answer how long there may be nothing to read
     * @throws IOException when nothing came in time, or more than 4 MiB; it always has a message
     */
    public AdminAnswer get(HostPort admin, String path, Duration connect, Duration answer) throws IOException {
        return ask(open(admin, path, connect, answer));
    }

    /**
     * As {@link #get}, with a POST without a body.
     *
     * @param token sent as {@value Request#TOKEN}, once the other side is known to be who was meant
     */
    public AdminAnswer post(HostPort admin, String path, String token, Duration connect, Duration answer)
            throws IOException {
        HttpURLConnection connection = open(admin, path, connect, answer);
        connection.setRequestMethod("POST");
        connection.setRequestProperty(Request.TOKEN, token);
        return ask(connection);
    }

    private HttpURLConnection open(HostPort admin, String path, Duration connect, Duration answer) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create((https.isPresent() ? "https://" : "http://") + admin + path)
                        .toURL()
                        .openConnection();
        connection.setConnectTimeout((int) connect.toMillis());
        connection.setReadTimeout((int) answer.toMillis());
        connection.setInstanceFollowRedirects(false);
        token.ifPresent(shown -> connection.setRequestProperty(Request.TOKEN, shown));
        if (https.isPresent()) {
            HttpsURLConnection secure = (HttpsURLConnection) connection;
            secure.setSSLSocketFactory(https.get().getSocketFactory());
            secure.setHostnameVerifier(
                    (host, session) -> true); // the handshake has checked the name in the certificate
        }
        return connection;
    }

    private static AdminAnswer ask(HttpURLConnection connection) throws IOException {
        try {
            return answer(connection);
        } catch (IOException e) {
            throw e.getMessage() == null ? new IOException(e.toString(), e) : e;
        } finally {
            connection.disconnect();
        }
    }

    private static AdminAnswer answer(HttpURLConnection connection) throws IOException {
        try (InputStream body = bodyOf(connection)) {
            byte[] bytes = body.readNBytes(BODY_BYTES_MAX + 1);
            if (bytes.length > BODY_BYTES_MAX) {
                throw new IOException("the answer has more than " + BODY_BYTES_MAX + " bytes");
            }
            long date = connection.getDate();
            return new AdminAnswer(
                    connection.getResponseCode(),
                    new String(bytes, StandardCharsets.UTF_8),
                    date == 0 ? Optional.empty() : Optional.of(Instant.ofEpochMilli(date)));
        }
    }

    private static InputStream bodyOf(HttpURLConnection connection) throws IOException {
        if (connection.getResponseCode() < HttpURLConnection.HTTP_BAD_REQUEST) {
            return connection.getInputStream();
        }
        InputStream error = connection.getErrorStream();
        return error == null ? new ByteArrayInputStream(new byte[0]) : error;
    }
}
