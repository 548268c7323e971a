// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.secure.PeerCheck;
import dev.kvpool.dataplane.secure.PeerRole;
import dev.kvpool.dataplane.secure.Principal;
import dev.kvpool.dataplane.secure.RefusedCertificateException;
import dev.kvpool.dataplane.secure.RefusedPeerException;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSession;

/** Asks admin endpoints, for commands; over HTTPS with a certificate where the pool requires it. */
public final class AdminCaller {
    private static final int BODY_BYTES_MAX = 4 << 20;

    static {
        // A connection that ends without an answer would be made again, and the token sent to whom nothing is known
        // about.
        System.setProperty("sun.net.http.retryPost", "false");
    }

    /** Over HTTP. */
    public static final AdminCaller PLAIN = new AdminCaller(Optional.empty());

    private final Optional<Https> https;

    /** How connections are made, and who is at the other end. */
    private record Https(SSLContext context, PeerOf peer, Set<PeerRole> roles) {}

    /** Who is at the other end. */
    private interface PeerOf {
        Principal peer(SSLSession session) throws RefusedPeerException;
    }

    private AdminCaller(Optional<Https> https) {
        this.https = https;
    }

    /** Over HTTPS with these credentials; the other side must be a member of the same pool. */
    public static AdminCaller with(TlsContext tls) {
        return new AdminCaller(Optional.of(new Https(
                tls.context(),
                session -> PeerCheck.principal(session, tls.credentials(), Instant.now()),
                Set.of(PeerRole.MASTER, PeerRole.NODE, PeerRole.AGENT))));
    }

    /** Over HTTPS without a certificate, for a process that wants one: the other side must be a master of a pool of these roots. */
    public static AdminCaller trusting(List<X509Certificate> roots) {
        return new AdminCaller(Optional.of(new Https(
                TlsContext.trusting(roots),
                session -> PeerCheck.principal(session, Instant.now()),
                Set.of(PeerRole.MASTER))));
    }

    /**
     * As these settings say: admin HTTP is HTTPS where TLS is required.
     *
     * @throws RefusedCertificateException with the file, the cause and how to fix it
     */
    public static AdminCaller of(TlsPlace place) throws RefusedCertificateException {
        return place.mode() == TlsMode.REQUIRED
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
        return connection;
    }

    private AdminAnswer ask(HttpURLConnection connection) throws IOException {
        try {
            if (https.isPresent()) {
                authenticate((HttpsURLConnection) connection, https.get());
            }
            return answer(connection);
        } catch (IOException e) {
            throw e.getMessage() == null ? new IOException(e.toString(), e) : e;
        } finally {
            connection.disconnect();
        }
    }

    /** Nothing of the request is sent before. */
    private static void authenticate(HttpsURLConnection connection, Https https) throws IOException {
        connection.setSSLSocketFactory(https.context().getSocketFactory());
        connection.setHostnameVerifier((host, session) -> true); // the name below is checked instead
        connection.connect();
        try {
            PeerCheck.requireRole(
                    https.peer().peer(connection.getSSLSession().orElseThrow()),
                    https.roles().toArray(PeerRole[]::new));
        } catch (RefusedPeerException e) {
            throw new IOException(e.getMessage(), e);
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
