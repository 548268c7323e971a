// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.observation.Leaders;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code failover}: has the leader give its leadership to a standby. */
@Command(description = "Has the leading master hand over to a standby, without a pod restarted.")
public final class FailoverCommand extends PoolCommand {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final Duration LOOK = Duration.ofMillis(250);

    @Parameters(paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Option(
            names = "--even-alone",
            description =
                    "Also when no standby answers: there is no leader for some seconds, and the same master may become leader"
                            + " again.")
    private boolean evenAlone;

    @Override
    protected void run(Cluster on, PrintWriter out) throws InterruptedException {
        PoolObservation seen = on.observe(pool);
        PoolReport before = Leaders.serving(seen);
        boolean standby = seen.answers().entrySet().stream()
                .anyMatch(answer ->
                        !answer.getKey().equals(before.name()) && answer.getValue() instanceof MasterAnswer.Report);
        if (!standby && !evenAlone) {
            throw new PluginException(
                    "pool %s has no standby that answers; --even-alone does it nevertheless".formatted(pool));
        }
        on.masters().handOver(seen.endpoint(before.name())).ifPresent(why -> {
            throw new PluginException("%s did not hand over: %s".formatted(before.name(), why));
        });
        PoolReport after = awaitLeaderAfter(on, before.epoch());
        out.println("%s leads in epoch %d; before, %s did in epoch %d"
                .formatted(after.name(), after.epoch(), before.name(), before.epoch()));
    }

    private PoolReport awaitLeaderAfter(Cluster on, long epoch) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + LIMIT.toNanos();
        while (System.nanoTime() < deadlineNanos) {
            Optional<PoolReport> leader = on.observe(pool).leaderReport().filter(report -> report.epoch() > epoch);
            if (leader.isPresent()) {
                return leader.get();
            }
            Thread.sleep(LOOK);
        }
        throw new PluginException(
                "the leadership was given back, and no master serves after %d s; see kubectl kvpool status %s"
                        .formatted(LIMIT.toSeconds(), pool));
    }
}
