// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.plugin.cluster.Cluster;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.PrintWriter;

/** Changes spec.paused, and nothing else. */
final class Pausing {
    private Pausing() {}

    static void set(Cluster on, String name, boolean paused, PrintWriter out) {
        KvCachePool pool = on.pool(name);
        if (pool.getSpec().paused() == paused) {
            out.println("pool %s %s already".formatted(name, paused ? "is paused" : "is not paused"));
            return;
        }
        on.client()
                .resource(pool)
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"paused\":%s}}".formatted(paused));
        out.println("pool %s %s".formatted(name, paused ? "is paused" : "is no longer paused"));
    }
}
