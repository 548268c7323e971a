// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waiting for something to become true, with a sentence that says for what. Long ones are logged: they are what a run consists of. */
public final class Wait {
    private static final Logger LOG = LoggerFactory.getLogger(Wait.class);
    private static final Duration LONG = Duration.ofSeconds(2);

    private Wait() {}

    /**
     * Repeats the assertion until it holds.
     *
     * @param what completes "waited in vain until ..."; with the assertion's own message it is the error
     */
    public static void until(String what, Duration limit, ThrowingRunnable assertion) {
        long begun = System.nanoTime();
        Awaitility.await("until " + what)
                .atMost(limit)
                .pollInterval(Limits.POLL)
                .pollDelay(Duration.ZERO)
                // The API server and what lies behind it may be briefly away when something was killed.
                .ignoreExceptions()
                .untilAsserted(assertion);
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        if (took.compareTo(LONG) > 0) {
            LOG.info("{} s until {}", took.toSeconds(), what);
        }
    }
}
