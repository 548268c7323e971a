// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.operator.plugin.cluster.Cluster;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code pause}: from now on the operator changes no object of the pool. */
@Command(description = "Sets spec.paused: the operator changes no object of the pool; the leader is still followed.")
public final class PauseCommand extends PoolCommand {
    @Parameters(paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        Pausing.set(on, pool, true, out);
    }
}
