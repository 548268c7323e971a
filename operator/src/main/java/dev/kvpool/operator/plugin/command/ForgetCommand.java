// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.forget.WhatIsLost;
import dev.kvpool.operator.plugin.observation.Leaders;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code forget}: has the leader wait no more for a storage node that does not come back. */
@Command(
        description = {
            "Gives up a storage node that does not come back with its memory: the leader waits no more for what it holds, nor for what it"
                    + " knows of removals. If it comes back nevertheless, it drops what it holds.",
            "Says before what is lost by that, and asks. A storage node that takes part is not given up: drain empties one."
        })
public final class ForgetCommand extends PoolCommand {
    @Parameters(index = "0", paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Parameters(index = "1", paramLabel = "NODE", description = "Id of the storage node, as `status POOL` shows it.")
    private String node;

    @Option(names = "--yes", description = "Do not ask.")
    private boolean sure;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        PoolObservation seen = on.observe(pool);
        PoolReport leader = Leaders.serving(seen);
        String loss = WhatIsLost.by(node, leader, pool);
        if (!sure && !node.equals(answerTo(loss + "%nTo give it up, type its id (%s): ".formatted(node)))) {
            throw new PluginException(
                    "nothing was done: the id of the storage node was not typed; --yes does it without asking");
        }
        on.masters().forget(seen.endpoint(leader.name()), node).ifPresent(why -> {
            throw new PluginException("%s did not do it: %s".formatted(leader.name(), why));
        });
        out.println("%s is forgotten; if it comes back, it drops what it holds".formatted(node));
    }
}
