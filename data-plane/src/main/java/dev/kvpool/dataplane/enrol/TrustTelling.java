// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * When a process tells all masters which roots it trusts: each five minutes, each minute while there are several, and soon after it got others. The
 * operator waits for it with each step of a change of the certificate authority.
 */
final class TrustTelling {
    /** Files of certificates are looked at every 10 s, so by then it does as it says. */
    static final Duration SETTLED = Duration.ofSeconds(15);

    static final Duration PERIOD = Duration.ofMinutes(5);
    static final Duration PERIOD_OF_CHANGE = Duration.ofMinutes(1);

    private final EnrolClient client;
    private final LongSupplier uptimeMs;
    private long toldMs;
    private long toldOfMs = -1;
    private boolean severalRoots;

    TrustTelling(EnrolClient client, LongSupplier uptimeMs) {
        this.client = client;
        this.uptimeMs = uptimeMs;
    }

    /**
     * Tells it when it is time to.
     *
     * @param writtenMs when the certificates were last written
     */
    void turn(long writtenMs) {
        long now = uptimeMs.getAsLong();
        if (now - writtenMs < SETTLED.toMillis()) {
            return;
        }
        Duration period = severalRoots ? PERIOD_OF_CHANGE : PERIOD;
        if (toldOfMs != writtenMs || now - toldMs >= period.toMillis()) {
            severalRoots = client.tell() > 1;
            toldOfMs = writtenMs;
            toldMs = now;
        }
    }
}
