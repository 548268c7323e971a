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

    /** So many processes of one principal set all of them apart: a process says itself what it is called, and may call itself otherwise. */
    private static final int PROCESSES = 3;

    /** How many are remembered. The eldest is forgotten for one more, which may try again at once then. */
    private static final int MAX = 1_024;

    /** @param principal whose process it is; empty when it is none */
    private record Wait(String principal, long ms, long untilMs) {
        boolean counts(long nowMs) {
            return nowMs - untilMs < FORGIVEN_MS;
        }
    }

    /** By what the connections of one process have in common, or of one principal; the eldest first. */
    private final Map<String, Wait> waits = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Wait> eldest) {
            return size() > MAX;
        }
    };

    /**
     * Sets a client's process apart, and all of its principal when others of that have been lately.
     *
     * @return a sentence that says so
     */
    String setApart(String principal, String process, long nowMs) {
        String sentence = setApart(principal, process, nowMs, waits.remove(process));
        Wait all = waits.remove(eachOf(principal));
        boolean isKnown = all != null && all.counts(nowMs);
        long processes = waits.values().stream()
                .filter(wait -> wait.principal.equals(principal) && wait.counts(nowMs))
                .count();
        return isKnown || processes >= PROCESSES ? setApart("", eachOf(principal), nowMs, all) : sentence;
    }

    /** The same for what is known by one name only. */
    String setApart(String name, long nowMs) {
        return setApart("", name, nowMs, waits.remove(name));
    }

    private String setApart(String principal, String name, long nowMs, Wait before) {
        boolean again = before != null && before.counts(nowMs);
        long ms = again ? Math.min(2 * before.ms, LONGEST_MS) : FIRST_MS;
        waits.put(name, new Wait(principal, ms, nowMs + ms));
        return sentence(name, ms);
    }

    private static String eachOf(String principal) {
        return "(each process of) " + principal;
    }

    /** Why a client's process may not come in, or nothing. */
    Optional<Objection> objection(String principal, String process, long nowMs) {
        return objection(eachOf(principal), nowMs).or(() -> objection(process, nowMs));
    }

    Optional<Objection> objection(String name, long nowMs) {
        Wait wait = waits.get(name);
        return wait == null || nowMs >= wait.untilMs
                ? Optional.empty()
                : Optional.of(new Objection(RefusalCode.SET_APART, sentence(name, wait.ms)));
    }

    private static String sentence(String name, long ms) {
        return "client %s is set apart for %d s: this master has thrown over a request of it"
                .formatted(name, ms / 1_000);
    }
}
