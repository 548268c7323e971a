// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.master.http.MasterPaths;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.why.KeyAnswer;
import dev.kvpool.operator.plugin.why.KeyText;
import dev.kvpool.operator.pool.naming.PoolNames;
import java.io.PrintWriter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code why}: whether a key is in a pool, where, and if not, why. */
@Command(
        description = {
            "Says whether a key is in the pool and where, and if not, why: never put, evicted, removed, lost with a storage node, or on"
                    + " storage nodes that are away. It is no read: the key gets no lease.",
            "The leader remembers the latest 131072 evictions and removals of its own leadership; the answer says since when."
        })
public final class WhyCommand extends PoolCommand {
    @Parameters(index = "0", paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Parameters(index = "1", paramLabel = "KEY", description = "The key, as clients name it.")
    private String key;

    @Mixin
    private OutputOptions output;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        MasterEndpoint leader = on.leader(pool);
        String said = on.masters().text(leader, PoolNames.MASTER_ADMIN_PORT, MasterPaths.key(key));
        try {
            KeyAnswer answer = new ObjectMapper().readValue(said, KeyAnswer.class);
            output.write(out, answer, KeyText.of(answer, pool));
        } catch (JsonProcessingException e) {
            throw new PluginException("%s answers something else than this plugin expects: %s"
                    .formatted(leader.host(), e.getOriginalMessage()));
        }
    }
}
