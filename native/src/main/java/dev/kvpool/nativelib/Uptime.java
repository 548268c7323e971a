// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import dev.kvpool.nativelib.jna.SystemClock;

/** The clock for leases, and for silences of others: it never goes back, and goes on while this machine is suspended. */
public final class Uptime {
    private static final long NS_PER_MS = 1_000_000;

    private Uptime() {}

    /** Milliseconds since this machine was booted. */
    public static long ms() {
        return SystemClock.sinceBootNs() / NS_PER_MS;
    }
}
