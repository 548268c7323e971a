// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

/**
 * What a route answers.
 *
 * @param status HTTP status code
 * @param contentType type of the body
 * @param body the body, sent as UTF-8
 */
public record Response(int status, String contentType, String body) {
    private static final String PLAIN = "text/plain; charset=utf-8";

    public static Response text(int status, String body) {
        return new Response(status, PLAIN, body);
    }

    public static Response json(int status, String body) {
        return new Response(status, "application/json", body);
    }

    /** Metrics in the text format of Prometheus. */
    public static Response metrics(String body) {
        return new Response(200, "text/plain; version=0.0.4; charset=utf-8", body);
    }
}
