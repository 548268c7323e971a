// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.operator.plugin.cluster.Cluster;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code resume}: the operator brings the pool to what its spec wants again. */
@Command(description = "Takes spec.paused back: the operator brings the pool to what its spec wants.")
public final class ResumeCommand extends PoolCommand {
    @Parameters(paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        Pausing.set(on, pool, false, out);
    }
}
