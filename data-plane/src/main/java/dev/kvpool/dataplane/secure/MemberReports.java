// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * What storage nodes and agents said last of their certificates: which roots they trust, and of which authority their own is. A change of the
 * authority waits for it. In memory: they say it again within minutes. Safe from any thread.
 */
public final class MemberReports {
    /** They say it at least each five minutes. */
    static final Duration KEPT = Duration.ofMinutes(15);

    public static final int COUNT_MAX = 20_000;

    private final LongSupplier uptimeMs;
    private final Map<String, Said> byName = new ConcurrentHashMap<>();

    /**
     * What one of them said.
     *
     * @param name role and name, as in its certificate
     * @param roots digest of what it trusts
     * @param authority fingerprint of what has signed its certificate
     * @param notAfter end of its certificate; empty where it does not say
     * @param atMs when, by the clock of this process that is never set
     */
    public record Said(String name, String roots, String authority, Optional<Instant> notAfter, long atMs) {}

    public MemberReports(LongSupplier uptimeMs) {
        this.uptimeMs = uptimeMs;
    }

    /** Whether these are waited for. */
    public static boolean matters(PeerRole role) {
        return role == PeerRole.NODE || role == PeerRole.AGENT;
    }

    /**
     * Notes it.
     *
     * @return false when there is no room for one more
     */
    public boolean add(PeerName name, String roots, String authority, Optional<Instant> notAfter) {
        if (byName.size() >= COUNT_MAX) {
            forgetOld();
            if (byName.size() >= COUNT_MAX && !byName.containsKey(name.path())) {
                return false;
            }
        }
        byName.put(name.path(), new Said(name.path(), roots, authority, notAfter, uptimeMs.getAsLong()));
        return true;
    }

    /** What was said within the last 15 minutes, by name. */
    public List<Said> all() {
        forgetOld();
        return byName.values().stream()
                .sorted((one, other) -> one.name().compareTo(other.name()))
                .toList();
    }

    private void forgetOld() {
        long oldest = uptimeMs.getAsLong() - KEPT.toMillis();
        byName.values().removeIf(said -> said.atMs() < oldest);
    }
}
