// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.cluster.NodeNotes;
import dev.kvpool.operator.plugin.observation.PoolOverview;
import dev.kvpool.operator.plugin.status.PoolLine;
import dev.kvpool.operator.plugin.status.StatusText;
import dev.kvpool.operator.plugin.status.StatusView;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code status}: all pools of a namespace in a line each, or one in detail. */
@Command(description = "Shows the pools of a namespace, or one of them with its masters and storage nodes.")
public final class StatusCommand extends PoolCommand {
    @Parameters(paramLabel = "POOL", arity = "0..1", description = "The pool to show in detail.")
    private String pool;

    @Mixin
    private OutputOptions output;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        if (pool != null) {
            PoolOverview overview = on.overview(pool);
            StatusView view =
                    StatusView.of(overview.seen(), NodeNotes.of(overview.fabric(), overview.pods(), on.masters()));
            output.write(out, view, StatusText.of(view));
            return;
        }
        List<PoolLine> lines = on.poolsAsWritten().stream().map(PoolLine::of).toList();
        output.write(out, lines, PoolLine.table(lines, on.namespace()));
    }
}
