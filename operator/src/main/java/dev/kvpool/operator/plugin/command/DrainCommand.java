// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.observation.Leaders;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code drain}: has the leader empty a storage node, or take it back. */
@Command(description = "Has the leader move what only this storage node holds to others, and put nothing new on it.")
public final class DrainCommand extends PoolCommand {
    private static final int MINUTES_MAX = 24 * 60;

    @Parameters(index = "0", paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Parameters(index = "1", paramLabel = "NODE", description = "Id of the storage node, as `status POOL` shows it.")
    private String node;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "10",
            description = "When it shall end, whatever is left: 1 to 1440, 10 by default.")
    private int minutes;

    @Option(names = "--cancel", description = "Stop emptying; the node takes objects again.")
    private boolean cancel;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        if (minutes < 1 || minutes > MINUTES_MAX) {
            throw new PluginException("--minutes must be 1 to %d, not %d".formatted(MINUTES_MAX, minutes));
        }
        PoolObservation seen = on.observe(pool);
        PoolReport leader = Leaders.serving(seen);
        if (leader.nodes().stream().noneMatch(it -> it.id().equals(node))) {
            throw new PluginException("pool %s has no storage node %s; it has: %s"
                    .formatted(
                            pool,
                            node,
                            leader.nodes().stream()
                                    .filter(it -> !it.isTransient())
                                    .map(PoolReport.Node::id)
                                    .collect(Collectors.joining(", "))));
        }
        Optional<String> objection = cancel
                ? on.masters().cancelDrain(seen.endpoint(leader.name()), node)
                : on.masters().drain(seen.endpoint(leader.name()), node, Duration.ofMinutes(minutes));
        objection.ifPresent(why -> {
            throw new PluginException("%s did not do it: %s".formatted(leader.name(), why));
        });
        out.println(
                cancel
                        ? "%s takes objects again".formatted(node)
                        : "%s is being emptied; `kubectl kvpool status %s` shows how far it is".formatted(node, pool));
    }
}
