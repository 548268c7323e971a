// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.act;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.cluster.Leaders;
import dev.kvpool.operator.plugin.cluster.PluginException;
import dev.kvpool.operator.plugin.cluster.PoolCommand;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code forget}: has the leader wait no more for a storage node that does not come back. */
@Command(
        name = "forget",
        description =
                "Gives a storage node up that will not come back with its memory: the leader waits no more for what it holds,"
                        + " nor for what it knows of removals. Should it come, it drops what it holds. What other nodes hold is served then,"
                        + " also what only this node knew to be removed.")
public final class ForgetCommand extends PoolCommand {
    @Parameters(index = "0", paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Parameters(index = "1", paramLabel = "NODE", description = "Id of the storage node, as `status POOL` shows it.")
    private String node;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        PoolReport leader = Leaders.serving(on.observe(pool));
        on.masters().forget(leader.name(), node).ifPresent(why -> {
            throw new PluginException("%s did not do it: %s".formatted(leader.name(), why));
        });
        out.println("%s is forgotten; should it come back, it drops what it holds".formatted(node));
    }
}
