// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.forget;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.plugin.failure.PluginException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a pool loses when a storage node is given up, for the person who is asked. Pure. */
public final class WhatIsLost {
    private static final long MIB = 1L << 20;

    private WhatIsLost() {}

    /**
     * Sentences, one a line.
     *
     * @throws PluginException when the node takes part, or the leader waits for no such node
     */
    public static String by(String id, PoolReport leader, String pool) {
        Optional<PoolReport.Node> node =
                leader.nodes().stream().filter(it -> it.id().equals(id)).findFirst();
        PoolReport.Register register = leader.register();
        boolean knowsRemovals = register.witnesses().contains(id);
        if (node.isEmpty() && !knowsRemovals && !register.behind().containsKey(id)) {
            throw new PluginException(
                    "pool %s waits for no storage node %s; it waits for: %s".formatted(pool, id, awaited(leader)));
        }
        node.filter(it -> it.serves() || it.syncing()).ifPresent(it -> {
            throw new PluginException(
                    "%s takes part in pool %s: it is %s. Only a storage node that is away is given up; drain empties this one"
                            .formatted(id, pool, it.state()));
        });
        StringBuilder text = new StringBuilder("%s of pool %s is %s%s%n"
                .formatted(
                        id,
                        pool,
                        node.map(PoolReport.Node::state).orElse("away"),
                        node.map(PoolReport.Node::reason)
                                .filter(reason -> !reason.isEmpty())
                                .map(": "::concat)
                                .orElse("")));
        text.append(objects(node, leader));
        if (knowsRemovals) {
            text.append(removals(id, register));
        }
        return text.toString();
    }

    private static String objects(Optional<PoolReport.Node> node, PoolReport leader) {
        String held = node.filter(it -> it.objects() > 0)
                .map(it -> "It held %d objects (%d Mi) when the leader last heard of it."
                        .formatted(it.objects(), it.usedBytes() / MIB))
                .orElse("The leader does not know what it holds.");
        return ("  %s Those without a copy on another storage node are lost for good: no storage node in reach has %d objects of the"
                        + " pool.%n")
                .formatted(held, leader.totals().unavailableObjects());
    }

    private static String removals(String id, PoolReport.Register register) {
        List<String> others = register.witnesses().stream()
                .filter(it -> !it.equals(id))
                .sorted()
                .toList();
        return "  It knows which objects were removed or replaced while %s away. %s%n"
                .formatted(
                        register.behind().isEmpty()
                                ? "others were"
                                : register.behind().keySet().stream().sorted().collect(Collectors.joining(", "))
                                        + " was",
                        others.isEmpty()
                                ? "No other storage node does: what it alone knows to be removed is served again."
                                : "So do %s: while one of them comes back, no removal is lost."
                                        .formatted(String.join(", ", others)));
    }

    private static String awaited(PoolReport leader) {
        String names = Stream.concat(
                        leader.nodes().stream().filter(it -> !it.serves()).map(PoolReport.Node::id),
                        leader.register().behind().keySet().stream())
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
        return names.isEmpty() ? "none" : names;
    }
}
