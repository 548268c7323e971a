// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a route answers.
 *
 * @param status HTTP status code
 * @param contentType type of the body
 * @param body the body, sent as UTF-8
 * @param stream what writes the body instead, of no length that is known before
 * @param retryAfterSeconds when to ask again, where the answer will be another one then
 */
public record Response(
        int status, String contentType, String body, Optional<Stream> stream, OptionalInt retryAfterSeconds) {
    /** Writes a body for as long as it likes. Each flush that the other side has taken earns another minute for the next. */
    public interface Stream {
        void writeTo(OutputStream out) throws IOException;
    }

    private static final String PLAIN = "text/plain; charset=utf-8";

    private Response(int status, String contentType, String body) {
        this(status, contentType, body, Optional.empty(), OptionalInt.empty());
    }

    /** Lines of JSON, one document each. */
    public static Response jsonLines(Stream stream) {
        return new Response(200, "application/x-ndjson", "", Optional.of(stream), OptionalInt.empty());
    }

    public static Response text(int status, String body) {
        return new Response(status, PLAIN, body);
    }

    /** What there is no room for now, and may be for one who asks again after so many seconds. */
    public static Response busy(String body, int retryAfterSeconds) {
        return new Response(503, PLAIN, body, Optional.empty(), OptionalInt.of(retryAfterSeconds));
    }

    public static Response json(int status, String body) {
        return new Response(status, "application/json", body);
    }

    /** Metrics in the text format of Prometheus. */
    public static Response metrics(String body) {
        return new Response(200, "text/plain; version=0.0.4; charset=utf-8", body);
    }
}
