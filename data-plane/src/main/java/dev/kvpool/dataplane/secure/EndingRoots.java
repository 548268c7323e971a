// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/** What is said once a day, in its last 30 days, of a root that ends: all certificates that lead to it end with it. */
final class EndingRoots {
    static final Duration BEFORE = Duration.ofDays(30);
    static final Duration BETWEEN = Duration.ofDays(1);

    private final InstantSource clock;
    private final LongSupplier uptimeMs;
    private Instant toldEnd = Instant.MIN;
    private OptionalLong toldMs = OptionalLong.empty();

    EndingRoots(InstantSource clock, LongSupplier uptimeMs) {
        this.clock = clock;
        this.uptimeMs = uptimeMs;
    }

    /**
     * Looks at the end of the first root to end.
     *
     * @return a sentence for the log; empty when there is nothing to say yet, or it was said within the last day
     */
    Optional<String> news(Instant end) {
        Instant now = clock.instant();
        if (now.isBefore(end.minus(BEFORE)) || (end.equals(toldEnd) && wasToldToday())) {
            return Optional.empty();
        }
        toldEnd = end;
        toldMs = OptionalLong.of(uptimeMs.getAsLong());
        String when = now.isBefore(end)
                ? "ends at " + end + ", in " + Duration.between(now, end).toDays()
                        + " days, and all certificates that lead to it with it"
                : "ended at " + end + ", and all certificates that lead to it with it";
        return Optional.of("a root that this process trusts " + when
                + ": make a new certificate authority, see docs/guide/security.md, \"Rotation\"");
    }

    private boolean wasToldToday() {
        return toldMs.isPresent() && uptimeMs.getAsLong() - toldMs.getAsLong() < BETWEEN.toMillis();
    }
}
