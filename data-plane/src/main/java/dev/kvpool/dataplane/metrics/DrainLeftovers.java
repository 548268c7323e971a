// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.base.DrainStatus.Leftover;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * What drained nodes still hold and nobody else has, also when their time was over: that is when somebody has to decide about it.
 * One series for each node, tier and reason; nodes, tiers and reasons are all of a bounded number, and a series ends with what
 * it tells of. The registry has no gauges that come and go, so these are written here.
 */
final class DrainLeftovers {
    private static final String OBJECTS = "kvpool_master_drains_objects_left";
    private static final String BYTES = "kvpool_master_drains_bytes_left";

    private DrainLeftovers() {}

    static String of(List<DrainStatus> drains) {
        return gauge(OBJECTS, "Objects that only a drained node holds", Leftover::objects, drains)
                + gauge(BYTES, "Bytes of objects that only a drained node holds", Leftover::bytes, drains);
    }

    private static String gauge(String name, String help, ToLongFunction<Leftover> value, List<DrainStatus> drains) {
        StringBuilder text = new StringBuilder("# HELP %s %s\n# TYPE %s gauge\n".formatted(name, help, name));
        for (DrainStatus drain : drains) {
            // A node whose drain was cancelled takes part again: nothing of it is left over.
            if (drain.state() != DrainStatus.State.CANCELLED) {
                for (Leftover left : drain.leftovers()) {
                    text.append("%s{node=\"%s\",tier=\"%s\",reason=\"%s\"} %d\n"
                            .formatted(
                                    name,
                                    LabelValue.quoted(drain.node()),
                                    LabelValue.quoted(left.tier()),
                                    LabelValue.quoted(left.reason()),
                                    value.applyAsLong(left)));
                }
            }
        }
        return text.toString();
    }
}
