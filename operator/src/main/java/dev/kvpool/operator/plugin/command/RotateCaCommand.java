// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.pool.naming.PoolLabels;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code rotate-ca}: has the operator bring a pool to another certificate authority. */
@Command(
        description = {
            "Has the operator bring the pool to another certificate authority now, as it does by itself before the end of each. The pool"
                    + " serves meanwhile: masters are made again in turn, storage pods are not.",
            "Sets the annotation kvpool.dev/rotate-ca of the KvCachePool, which kubectl annotate can do as well."
        })
public final class RotateCaCommand extends PoolCommand {
    @Parameters(paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        KvCachePool found = on.pool(pool);
        if (!found.getSpec().security().mode().isOn()) {
            throw new PluginException(
                    "pool %s has no certificate authority: its spec.security.mode is Off".formatted(pool));
        }
        if (found.getSpec().security().directory().isPresent()) {
            throw new PluginException(
                    "pool %s has no certificate authority of its own: its spec.security.certificates.source is Directory; change it where the certificates are made"
                            .formatted(pool));
        }
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        on.annotate(found, PoolLabels.ROTATE_CA, now);
        out.println(
                "pool %s changes to another certificate authority if its own was made before %s; `kubectl kvpool status %s` shows how far it is"
                        .formatted(pool, now, pool));
        if (found.getSpec().paused()) {
            out.println("the pool is paused: nothing happens before `kubectl kvpool resume %s`".formatted(pool));
        }
    }
}
