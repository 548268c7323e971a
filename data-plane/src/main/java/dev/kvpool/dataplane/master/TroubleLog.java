// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/** Logs the troubles of one peer at most once a minute: one that dials again and again must not fill the log. */
final class TroubleLog {
    private static final long SILENCE_MS = 60_000;
    private static final int PEERS_MAX = 8192; // a large pool's engines, each with a few kinds of trouble

    private final LongSupplier clockMs;
    private final Map<String, Long> loggedMs = new LinkedHashMap<>();

    TroubleLog(LongSupplier clockMs) {
        this.clockMs = clockMs;
    }

    void log(String peer, Runnable write) {
        long nowMs = clockMs.getAsLong();
        Long before = loggedMs.get(peer);
        if (before != null && nowMs - before < SILENCE_MS) {
            return;
        }
        loggedMs.remove(peer);
        loggedMs.put(peer, nowMs);
        if (loggedMs.size() > PEERS_MAX) {
            loggedMs.remove(loggedMs.keySet().iterator().next());
        }
        write.run();
    }
}
