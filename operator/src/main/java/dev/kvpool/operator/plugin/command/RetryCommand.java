// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.pool.naming.PoolLabels;
import java.io.PrintWriter;
import java.time.Instant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code retry}: has the operator try an upgrade again that failed or was refused. */
@Command(
        description = {
            "Has the operator try an upgrade again that failed or was refused, with the same image.",
            "Sets the annotation kvpool.dev/retry of the KvCachePool, which kubectl annotate can do as well: any other text than before."
        })
public final class RetryCommand extends PoolCommand {
    @Parameters(paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        KvCachePool found = on.pool(pool);
        RollStatus roll = found.getStatus() == null ? null : found.getStatus().roll();
        if (roll == null || (roll.phase() != RollPhase.FAILED && roll.phase() != RollPhase.BLOCKED)) {
            throw new PluginException("pool %s has no upgrade that failed or was refused".formatted(pool));
        }
        on.annotate(found, PoolLabels.RETRY, Instant.now().toString());
        out.println("the upgrade of pool %s to %s is tried again; `kubectl kvpool status %s` shows how far it is"
                .formatted(pool, roll.image(), pool));
        if (found.getSpec().paused() || found.getSpec().upgrade().paused()) {
            out.println("not before %s is false"
                    .formatted(found.getSpec().paused() ? "spec.paused" : "spec.upgrade.paused"));
        }
    }
}
