// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.http.AdminCaller;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Reads the header {@code Date} of a master's admin HTTP. */
final class ClockVisit {
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    private final AdminCaller caller;
    private final Clock clock;

    ClockVisit(AdminCaller caller, Clock clock) {
        this.caller = caller;
        this.clock = clock;
    }

    ClockReading visit(HostPort admin) {
        Instant asked = clock.instant();
        try {
            Optional<Instant> told =
                    caller.get(admin, "/healthz", TIMEOUT, TIMEOUT).date();
            return told.isEmpty()
                    ? failed(admin, asked, "its answer has no Date, so it is no master's admin address")
                    : new ClockReading(admin, told, asked, clock.instant(), "");
        } catch (IOException e) {
            return failed(admin, asked, e.getMessage());
        }
    }

    private ClockReading failed(HostPort admin, Instant asked, String why) {
        return new ClockReading(admin, Optional.empty(), asked, clock.instant(), why);
    }
}
