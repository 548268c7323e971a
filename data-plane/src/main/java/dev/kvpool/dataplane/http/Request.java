// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.util.Map;
import java.util.Optional;

/**
 * A request as a route sees it.
 *
 * @param query the decoded parameters after the question mark; of one that stands twice the last
 * @param token value of the header {@value #TOKEN}: of its own name, because the API server, through which people ask, takes
 *     {@code Authorization} for itself
 */
public record Request(Map<String, String> query, Optional<String> token) {
    public static final String TOKEN = "X-Kvpool-Token";

    /** Without a token. */
    public Request(Map<String, String> query) {
        this(query, Optional.empty());
    }

    public Optional<String> parameter(String name) {
        return Optional.ofNullable(query.get(name));
    }
}
