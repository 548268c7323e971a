// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.operator.pool.naming.PoolLabels;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which pods of a pool shall be made again, as its annotations ask. The time becomes a part of the pods' settings, so that a restart
 * takes all the care that changed settings take.
 *
 * @param times the time by role
 * @param refused annotations that are no time, as sentences
 */
public record Restarts(Map<String, Instant> times, List<String> refused) {
    public static final Restarts NONE = new Restarts(Map.of(), List.of());

    private static final int SHOWN_CHARS_MAX = 64;
    private static final List<String> ROLES =
            List.of(PoolLabels.ROLE_MASTER, PoolLabels.ROLE_STORAGE, PoolLabels.ROLE_AGENT);

    public Restarts {
        times = Map.copyOf(times);
        refused = List.copyOf(refused);
    }

    /**
     * Reads annotations of a pool.
     *
     * @param annotations all of them; null where there are none
     */
    public static Restarts of(Map<String, String> annotations) {
        if (annotations == null) {
            return NONE;
        }
        Map<String, Instant> times = new TreeMap<>();
        List<String> refused = new ArrayList<>();
        ROLES.forEach(role -> read(annotations, PoolLabels.restart(role), List.of(role), times, refused));
        read(annotations, PoolLabels.RESTART, ROLES, times, refused);
        return new Restarts(times, refused);
    }

    private static void read(
            Map<String, String> annotations,
            String name,
            List<String> roles,
            Map<String, Instant> times,
            List<String> refused) {
        String text = annotations.get(name);
        if (text == null || text.isEmpty()) {
            return;
        }
        try {
            Instant time = OffsetDateTime.parse(text).toInstant();
            roles.forEach(role -> times.merge(role, time, (one, other) -> one.isAfter(other) ? one : other));
        } catch (DateTimeException e) {
            refused.add(
                    "Annotation %s is \"%s\", which is no time such as 2026-01-31T12:00:00Z; no pod is restarted for it."
                            .formatted(
                                    name, text.length() > SHOWN_CHARS_MAX ? text.substring(0, SHOWN_CHARS_MAX) : text));
        }
    }

    /** Since when pods of a role shall be made again; empty when nothing asks for it. */
    public Optional<Instant> of(String role) {
        return Optional.ofNullable(times.get(role));
    }
}
