// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.health;

import java.util.function.LongSupplier;

/** When a thread last did a whole turn of its work. One thread stamps it, any thread may look. */
public final class Beat {
    private final LongSupplier clockMs;
    private volatile long stampedMs;
    private volatile Thread thread;

    /**
     * A beat that counts as just stamped.
     *
     * @param clockMs a clock that never goes back
     */
    public Beat(LongSupplier clockMs) {
        this.clockMs = clockMs;
        stampedMs = clockMs.getAsLong();
    }

    /** This thread has done a turn. */
    public void stamp() {
        thread = Thread.currentThread();
        stampedMs = clockMs.getAsLong();
    }

    /** How long the turn that is under way has taken so far. */
    public long ageMs() {
        return Math.max(0, clockMs.getAsLong() - stampedMs);
    }

    /** Where the thread is now, for a log. */
    public StackTraceElement[] position() {
        Thread stamping = thread;
        return stamping == null ? new StackTraceElement[0] : stamping.getStackTrace();
    }
}
