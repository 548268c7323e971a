// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.HostPort;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Clock;
import java.time.Instant;
import java.util.Optional;

/** Reads the header {@code Date} of a master's admin HTTP. */
final class ClockVisit {
    private static final int TIMEOUT_MS = 3000;

    private final Clock clock;

    ClockVisit(Clock clock) {
        this.clock = clock;
    }

    ClockReading visit(HostPort admin) {
        Instant asked = clock.instant();
        try {
            HttpURLConnection connection = (HttpURLConnection)
                    URI.create("http://" + admin + "/healthz").toURL().openConnection();
            connection.setConnectTimeout(TIMEOUT_MS);
            connection.setReadTimeout(TIMEOUT_MS);
            try {
                connection.getResponseCode();
                long told = connection.getDate();
                return told == 0
                        ? failed(admin, asked, "its answer has no Date, so it is no master's admin address")
                        : new ClockReading(admin, Optional.of(Instant.ofEpochMilli(told)), asked, clock.instant(), "");
            } finally {
                connection.disconnect();
            }
        } catch (IOException e) {
            return failed(admin, asked, e.getMessage() == null ? e.toString() : e.getMessage());
        }
    }

    private ClockReading failed(HostPort admin, Instant asked, String why) {
        return new ClockReading(admin, Optional.empty(), asked, clock.instant(), why);
    }
}
