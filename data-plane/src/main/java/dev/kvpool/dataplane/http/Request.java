// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import com.sun.net.httpserver.Headers;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;

/**
 * A request as a route sees it.
 *
 * @param query the decoded parameters after the question mark
 * @param token value of the header {@value #TOKEN}: of its own name, because the API server, through which people ask, takes
 *     {@code Authorization} for itself; who asks directly may use that one
 * @param caller who asks
 * @param body what comes after the headers
 */
public record Request(Map<String, String> query, Optional<String> token, Caller caller, Body body) {
    /** Reads the body of a request, once. */
    public interface Body {
        /**
         * The body as text, empty when there is none.
         *
         * @throws IllegalArgumentException when it is longer, is not UTF-8 or ends too early
         */
        String read(int bytesMax);
    }

    public static final String TOKEN = "X-Kvpool-Token";

    private static final String BEARER = "Bearer ";

    /** The token of a request: {@value #TOKEN}, or else {@code Authorization: Bearer}. */
    static Optional<String> token(Headers headers) {
        return Optional.ofNullable(headers.getFirst(TOKEN))
                .or(() -> Optional.ofNullable(headers.getFirst("Authorization"))
                        .filter(value -> value.regionMatches(true, 0, BEARER, 0, BEARER.length()))
                        .map(value -> value.substring(BEARER.length()).strip()));
    }

    /** Address of who asks. */
    public InetAddress from() {
        return caller.address();
    }

    public Optional<String> parameter(String name) {
        return Optional.ofNullable(query.get(name));
    }
}
