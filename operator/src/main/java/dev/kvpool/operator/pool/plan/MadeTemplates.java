// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.TemplateNotes;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** What the templates that this operator makes say of themselves. Remembered, as to make them takes longer than all else for a calm pool. */
final class MadeTemplates {
    /** Of so many pools. */
    private static final int POOLS_MAX = 4096;

    private record Made(PlannedChildren planned, Map<String, TemplateNotes> notes) {}

    private final Map<PoolNames, Made> byPool = new HashMap<>();

    /** By kind and name of the workload. */
    Map<String, TemplateNotes> of(PlannedChildren planned) {
        PoolNames pool = planned.blueprint().names();
        Made known = known(pool);
        if (known == null || !known.planned().equals(planned)) {
            known = new Made(planned, notes(planned));
            remember(pool, known);
        }
        return known.notes();
    }

    private static Map<String, TemplateNotes> notes(PlannedChildren planned) {
        return planned.workloads()
                .collect(Collectors.toMap(
                        ObjectTitle::of, workload -> TemplateNotes.of(workload).orElseThrow()));
    }

    private Made known(PoolNames pool) {
        synchronized (byPool) {
            return byPool.get(pool);
        }
    }

    private void remember(PoolNames pool, Made made) {
        synchronized (byPool) {
            if (byPool.size() >= POOLS_MAX) {
                byPool.clear();
            }
            byPool.put(pool, made);
        }
    }
}
