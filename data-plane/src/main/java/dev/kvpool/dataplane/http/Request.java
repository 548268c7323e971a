// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.util.Map;
import java.util.Optional;

/**
 * A request as a route sees it.
 *
 * @param query the decoded parameters after the question mark; of one that stands twice the last
 */
public record Request(Map<String, String> query) {
    public Optional<String> parameter(String name) {
        return Optional.ofNullable(query.get(name));
    }
}
