// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.pool.naming.PoolLabels;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code restart}: has the operator replace the pods of a pool in turn. */
@Command(
        description = {
            "Has the operator replace the pods of the pool, or those of one role, in turn, as after changed settings: storage nodes whose"
                    + " bytes would go with the pod are treated as spec.onDataLoss says.",
            "Sets the annotation kvpool.dev/restart of the KvCachePool, which kubectl annotate can do as well."
        })
public final class RestartCommand extends PoolCommand {
    /** Whose pods. */
    enum Role {
        MASTERS(PoolLabels.ROLE_MASTER),
        STORAGE(PoolLabels.ROLE_STORAGE),
        AGENTS(PoolLabels.ROLE_AGENT);

        private final String label;

        Role(String label) {
            this.label = label;
        }

        /** As it is typed. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Parameters(paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Option(
            names = "--role",
            paramLabel = "masters|storage|agents",
            description = "Only these pods; all of them otherwise.")
    private Role role;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        KvCachePool found = on.pool(pool);
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        String annotation = role == null ? PoolLabels.RESTART : PoolLabels.restart(role.label);
        on.annotate(found, annotation, now);
        out.println(
                "the %s of pool %s made before %s are replaced in turn; `kubectl kvpool status %s` shows how far it is"
                        .formatted(role == null ? "pods" : role + " pods", pool, now, pool));
        if (found.getSpec().paused()) {
            out.println("the pool is paused: nothing happens before `kubectl kvpool resume %s`".formatted(pool));
        }
    }
}
