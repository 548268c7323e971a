// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.net.HttpURLConnection;
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
    public boolean isOk() {
        return status == HttpURLConnection.HTTP_OK;
    }
}
