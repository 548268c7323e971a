// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.blueprint;

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
 * What annotations of a pool ask for, once each: which of its pods shall be made again, and that a failed upgrade is tried again. The time
 * of a restart becomes a part of the pods' settings, so that a restart takes all the care that changed settings take.
 *
 * @param restarts the time by role
 * @param retry any text; another one than an upgrade began with has it tried again once it has failed
 * @param rotation when somebody asked for another certificate authority
 * @param refused annotations that ask for nothing the operator knows, as sentences
 */
public record Requests(
        Map<String, Instant> restarts, Optional<String> retry, Optional<Instant> rotation, List<String> refused) {
    public static final Requests NONE = new Requests(Map.of(), Optional.empty(), Optional.empty(), List.of());

    private static final int TEXT_CHARS_MAX = 64;
    private static final List<String> ROLES =
            List.of(PoolLabels.ROLE_MASTER, PoolLabels.ROLE_STORAGE, PoolLabels.ROLE_AGENT);

    public Requests {
        restarts = Map.copyOf(restarts);
        refused = List.copyOf(refused);
    }

    /**
     * Reads annotations of a pool.
     *
     * @param annotations all of them; null where there are none
     */
    public static Requests of(Map<String, String> annotations) {
        if (annotations == null) {
            return NONE;
        }
        Map<String, Instant> restarts = new TreeMap<>();
        Optional<String> retry = Optional.empty();
        Optional<Instant> rotation = Optional.empty();
        List<String> refused = new ArrayList<>();
        for (Map.Entry<String, String> annotation : new TreeMap<>(annotations).entrySet()) {
            String name = annotation.getKey();
            String text = annotation.getValue();
            if (text == null || text.isEmpty()) {
                continue;
            }
            if (name.equals(PoolLabels.RETRY)) {
                retry = Optional.of(text).filter(it -> it.length() <= TEXT_CHARS_MAX);
                if (retry.isEmpty()) {
                    refused.add("Annotation %s has %d characters, and may have %d; no upgrade is tried again for it."
                            .formatted(name, text.length(), TEXT_CHARS_MAX));
                }
            } else if (name.equals(PoolLabels.ROTATE_CA)) {
                rotation = time(text);
                if (rotation.isEmpty()) {
                    refused.add(noTime(name, text, "no certificate authority is made for it"));
                }
            } else if (name.equals(PoolLabels.RESTART) || name.startsWith(PoolLabels.restart(""))) {
                restart(name, text, restarts).ifPresent(refused::add);
            }
        }
        return new Requests(restarts, retry, rotation, refused);
    }

    /** Why nothing is restarted for the annotation, as a sentence; empty when something is. */
    private static Optional<String> restart(String name, String text, Map<String, Instant> restarts) {
        List<String> roles = ROLES.stream()
                .filter(role -> name.equals(PoolLabels.RESTART) || name.equals(PoolLabels.restart(role)))
                .toList();
        if (roles.isEmpty()) {
            return Optional.of("Annotation %s names no role: there are %s, %s and %s; no pod is restarted for it."
                    .formatted(
                            name,
                            PoolLabels.restart(PoolLabels.ROLE_MASTER),
                            PoolLabels.restart(PoolLabels.ROLE_STORAGE),
                            PoolLabels.restart(PoolLabels.ROLE_AGENT)));
        }
        Optional<Instant> time = time(text);
        time.ifPresent(at ->
                roles.forEach(role -> restarts.merge(role, at, (one, other) -> one.isAfter(other) ? one : other)));
        return time.isPresent() ? Optional.empty() : Optional.of(noTime(name, text, "no pod is restarted for it"));
    }

    private static Optional<Instant> time(String text) {
        try {
            return Optional.of(OffsetDateTime.parse(text).toInstant());
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    private static String noTime(String name, String text, String consequence) {
        return "Annotation %s is \"%s\", which is no time such as 2026-01-31T12:00:00Z; %s."
                .formatted(
                        name, text.length() > TEXT_CHARS_MAX ? text.substring(0, TEXT_CHARS_MAX) : text, consequence);
    }

    /** Since when pods of a role shall be made again; empty when nothing asks for it. */
    public Optional<Instant> restart(String role) {
        return Optional.ofNullable(restarts.get(role));
    }
}
