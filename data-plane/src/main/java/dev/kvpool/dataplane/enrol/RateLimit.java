// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.time.InstantSource;
import java.util.concurrent.TimeUnit;

/** So many a second: signatures are checked by the processor, and more would be taken from the core's share of it. */
final class RateLimit {
    private final int perSecondMax;
    private final InstantSource clock;
    private long second;
    private int inSecond;

    RateLimit(int perSecondMax, InstantSource clock) {
        this.perSecondMax = perSecondMax;
        this.clock = clock;
    }

    /** Whether one more may be served. */
    synchronized boolean admit() {
        long now = TimeUnit.MILLISECONDS.toSeconds(clock.millis());
        inSecond = now == second ? inSecond + 1 : 1;
        second = now;
        return inSecond <= perSecondMax;
    }
}
