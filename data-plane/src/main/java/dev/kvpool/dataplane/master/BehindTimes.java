// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * For people: when this master first saw in the register that a node is behind, by its own clock. The register has no times, since
 * nothing is decided by them. Standbys follow it too, so that a takeover changes little; a master that began later knows a later time.
 */
final class BehindTimes {
    private volatile Map<String, Instant> since = Map.of();

    /** To be called by one thread. */
    void look(Set<String> behind, Instant now) {
        if (!behind.equals(since.keySet())) {
            Map<String, Instant> next = new TreeMap<>();
            behind.forEach(id -> next.put(id, since.getOrDefault(id, now.truncatedTo(ChronoUnit.SECONDS))));
            since = Map.copyOf(next);
        }
    }

    Map<String, Instant> since() {
        return since;
    }
}
