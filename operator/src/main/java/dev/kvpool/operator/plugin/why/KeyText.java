// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.why;

import java.util.List;
import java.util.stream.Collectors;

/** What the leader says of a key, in sentences. Pure. */
public final class KeyText {
    private KeyText() {}

    /** Says it to the person who asked for the key of a pool. */
    public static String of(KeyAnswer answer, String pool) {
        return switch (answer.state()) {
            case "readable" -> readable(answer, pool);
            case "being-put" -> "The key is not in pool %s yet: a client is putting it now.%n".formatted(pool);
            case "unavailable" ->
                "The key cannot be read from pool %s now: %s%n".formatted(pool, unavailable(answer, pool));
            case "absent" -> "The key is not in pool %s: %s%n".formatted(pool, absent(answer)) + perhaps(answer);
            default -> "%s says of the key that it is %s.%n".formatted(answer.master(), answer.state());
        };
    }

    private static String readable(KeyAnswer answer, String pool) {
        String where = answer.value().replicas().stream()
                .map(it -> "%s (%s%s%s)"
                        .formatted(
                                it.node(),
                                it.medium().equals("ssd") ? "SSD" : it.medium(),
                                it.reachable() ? "" : ", away",
                                it.draining() ? ", being emptied" : ""))
                .collect(Collectors.joining(", "));
        return "The key is in pool %s: %d bytes on %s.%n"
                        .formatted(pool, answer.value().bytes(), where)
                + (Boolean.TRUE.equals(answer.value().leased()) ? "A reader has a lease on it.\n" : "");
    }

    private static String unavailable(KeyAnswer answer, String pool) {
        String nodes = answer.value().replicas().stream()
                .map(KeyAnswer.Replica::node)
                .distinct()
                .collect(Collectors.joining(", "));
        return switch (answer.cause()) {
            case "nodes-away" -> "all storage nodes that hold it are away: %s.".formatted(nodes);
            case "version" ->
                "the storage nodes that hold it are refused, since their version does not fit: %s.".formatted(nodes);
            case "behind" ->
                ("only storage nodes hold it that missed removals while they were away (%s), and no node was met that knows"
                                + " whether this key was among them. See kubectl kvpool status %s.")
                        .formatted(nodes, pool);
            case "unheard" ->
                "memory within engines takes part in the pool and has not told %s yet what it holds: %s."
                        .formatted(answer.master(), String.join(", ", answer.unheard()));
            default -> "%s gives the reason %s.".formatted(answer.master(), answer.cause());
        };
    }

    private static String absent(KeyAnswer answer) {
        return switch (answer.cause()) {
            case "evicted" -> "it was evicted at %s to make room.".formatted(answer.goneSince());
            case "removed" -> "a client removed it at %s.".formatted(answer.goneSince());
            case "lost" ->
                "it was lost at %s: the storage nodes that held it came back without it, or ended."
                        .formatted(answer.goneSince());
            default ->
                "it was never put, or was gone before %s, since when %s remembers what it evicts and removes."
                        .formatted(answer.remembersSince(), answer.master());
        };
    }

    /** What else may be the cause where the leader does not know it. */
    private static String perhaps(KeyAnswer answer) {
        if (!answer.cause().equals("unknown")) {
            return "";
        }
        List<String> unheard = answer.unheard();
        return (answer.allRemovedAt() == null
                        ? ""
                        : "All objects of the pool were removed at %s.%n".formatted(answer.allRemovedAt()))
                + (unheard.isEmpty()
                        ? ""
                        : "It may be on a storage node that %s has not heard since it leads: %s.%n"
                                .formatted(answer.master(), String.join(", ", unheard)));
    }
}
