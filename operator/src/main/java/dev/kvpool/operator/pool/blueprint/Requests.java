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
import java.util.stream.Collectors;

/**
 * What annotations of a pool ask for, once each: which of its pods shall be made again, that a failed upgrade is tried again, which storage
 * nodes are to be empty, and that the leader hands over. The time of a restart becomes a part of the pods' settings, so that a restart takes
 * all the care that changed settings take. The others name what they are about, a pod or a leadership, and end with it.
 *
 * @param restarts the time by role
 * @param retry any text; another one than an upgrade began with has it tried again once it has failed
 * @param rotation when a user asked for another certificate authority
 * @param drains storage nodes that are to be empty: the UID of the pod, by the node's id
 * @param failover epoch of the leadership that is to be handed over
 * @param refused annotations that ask for nothing the operator knows, as sentences
 */
public record Requests(
        Map<String, Instant> restarts,
        Optional<String> retry,
        Optional<Instant> rotation,
        Map<String, String> drains,
        Optional<Long> failover,
        List<String> refused) {
    public static final Requests NONE =
            new Requests(Map.of(), Optional.empty(), Optional.empty(), Map.of(), Optional.empty(), List.of());

    private static final int TEXT_CHARS_MAX = 64;
    private static final List<String> ROLES =
            List.of(PoolLabels.ROLE_MASTER, PoolLabels.ROLE_STORAGE, PoolLabels.ROLE_AGENT);

    public Requests {
        restarts = Map.copyOf(restarts);
        drains = Map.copyOf(drains);
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
        Map<String, String> drains = new TreeMap<>();
        Optional<Long> failover = Optional.empty();
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
            } else if (name.equals(PoolLabels.DRAIN)) {
                drain(text, drains).ifPresent(refused::add);
            } else if (name.equals(PoolLabels.FAILOVER)) {
                failover = epoch(text);
                if (failover.isEmpty()) {
                    refused.add("Annotation %s is \"%s\", which is no epoch of a leader; none hands over for it."
                            .formatted(name, excerpt(text)));
                }
            } else if (name.equals(PoolLabels.RESTART) || name.startsWith(PoolLabels.restart(""))) {
                restart(name, text, restarts).ifPresent(refused::add);
            }
        }
        return new Requests(restarts, retry, rotation, drains, failover, refused);
    }

    /** Why some of it empties nothing, as a sentence; empty when all of it is understood. */
    private static Optional<String> drain(String text, Map<String, String> drains) {
        Optional<String> other = Optional.empty();
        for (String entry : text.split(",", -1)) {
            String[] parts = entry.strip().split("=", -1);
            if (parts.length == 2 && !parts[0].isEmpty() && !parts[1].isEmpty()) {
                drains.put(parts[0], parts[1]);
            } else {
                other = Optional.of("Annotation %s has \"%s\", which is not NODE=UID with the UID of the node's pod;"
                                .formatted(PoolLabels.DRAIN, excerpt(entry))
                        + " nothing is emptied for it.");
            }
        }
        return other;
    }

    /** What annotation {@link PoolLabels#DRAIN} says for these. */
    public static String text(Map<String, String> drains) {
        return new TreeMap<>(drains)
                .entrySet().stream()
                        .map(drain -> drain.getKey() + "=" + drain.getValue())
                        .collect(Collectors.joining(","));
    }

    private static Optional<Long> epoch(String text) {
        try {
            return Optional.of(Long.parseLong(text));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static String excerpt(String text) {
        return text.length() > TEXT_CHARS_MAX ? text.substring(0, TEXT_CHARS_MAX) : text;
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
                .formatted(name, excerpt(text), consequence);
    }

    /** Since when pods of a role shall be made again; empty when nothing asks for it. */
    public Optional<Instant> restart(String role) {
        return Optional.ofNullable(restarts.get(role));
    }
}
