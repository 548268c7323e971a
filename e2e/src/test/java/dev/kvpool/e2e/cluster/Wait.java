// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;

/** Waiting for something to become true, with a sentence that says for what. */
public final class Wait {

    private Wait() {}

    /**
     * Repeats the assertion until it holds.
     *
     * @param what completes "waited in vain until ..."; with the assertion's own message it is the error
     */
    public static void until(String what, Duration limit, ThrowingRunnable assertion) {
        Awaitility.await("until " + what)
                .atMost(limit)
                .pollInterval(Limits.POLL)
                .pollDelay(Duration.ZERO)
                // The API server and what lies behind it may be briefly away when something was killed.
                .ignoreExceptions()
                .untilAsserted(assertion);
    }
}
