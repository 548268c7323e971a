// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import dev.kvpool.dataplane.config.HostPort;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * What an admin endpoint answered to a GET, for commands that ask masters.
 *
 * @param status of HTTP
 * @param body its text, also of an error
 * @param date the other side's clock in whole seconds; empty when it told none
 */
public record AdminAnswer(int status, String body, Optional<Instant> date) {
    private static final int BODY_BYTES_MAX = 4 << 20;

    /**
     * Asks and waits.
     *
     * @param connect how long the connection may take
     * @param answer how long there may be nothing to read
     * @throws IOException when nothing came in time, or more than 4 MiB; it always has a message
     */
    public static AdminAnswer get(HostPort admin, String path, Duration connect, Duration answer) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create("http://" + admin + path).toURL().openConnection();
        connection.setConnectTimeout((int) connect.toMillis());
        connection.setReadTimeout((int) answer.toMillis());
        connection.setInstanceFollowRedirects(false);
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
        } catch (IOException e) {
            throw e.getMessage() == null ? new IOException(e.toString(), e) : e;
        } finally {
            connection.disconnect();
        }
    }

    public boolean isOk() {
        return status == HttpURLConnection.HTTP_OK;
    }

    private static InputStream bodyOf(HttpURLConnection connection) throws IOException {
        if (connection.getResponseCode() < HttpURLConnection.HTTP_BAD_REQUEST) {
            return connection.getInputStream();
        }
        InputStream error = connection.getErrorStream();
        return error == null ? new ByteArrayInputStream(new byte[0]) : error;
    }
}
