// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.loop;

import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.wire.RefusalCode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Clients whose requests made the core throw, and until when they are not let in again: each time costs this master its view, and a
 * client asks again. The wait doubles each time, up to an hour. Used on the event loop.
 */
final class ClientsSetApart {
    private static final long FIRST_MS = 10_000;
    private static final long LONGEST_MS = 3_600_000;

    /** One that nothing was wrong with for so long begins with the first wait again. */
    private static final long FORGIVEN_MS = 600_000;

    /** More than as many never make it throw: who does waits for longer and longer. */
    private static final int MAX = 1_024;

    private record Wait(long ms, long untilMs) {}

    /** By what the connections of one client have in common; the eldest first. */
    private final Map<String, Wait> byPrincipal = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Wait> eldest) {
            return size() > MAX;
        }
    };

    /**
     * Sets a client apart.
     *
     * @return a sentence that says so
     */
    String setApart(String principal, long nowMs) {
        Wait before = byPrincipal.remove(principal);
        boolean again = before != null && nowMs - before.untilMs < FORGIVEN_MS;
        long ms = again ? Math.min(2 * before.ms, LONGEST_MS) : FIRST_MS;
        byPrincipal.put(principal, new Wait(ms, nowMs + ms));
        return sentence(principal, ms);
    }

    /** Why a client may not come in, or nothing. */
    Optional<Objection> objection(String principal, long nowMs) {
        Wait wait = byPrincipal.get(principal);
        return wait == null || nowMs >= wait.untilMs
                ? Optional.empty()
                : Optional.of(new Objection(RefusalCode.SET_APART, sentence(principal, wait.ms)));
    }

    private static String sentence(String principal, long ms) {
        return "client %s is set apart for %d s: this master has thrown over a request of it"
                .formatted(principal, ms / 1_000);
    }
}
