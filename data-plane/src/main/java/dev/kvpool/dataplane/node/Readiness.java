// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.nativelib.NativeStats;

/**
 * Whether the node takes part in its pool, and the sentence that says so.
 *
 * @param ready whether its segment is open and at least one master knows it
 * @param reason one line for people
 */
record Readiness(boolean ready, String reason) {
    static Readiness no(String reason) {
        return new Readiness(false, reason);
    }

    static Readiness of(NativeStats stats, String masters) {
        String count = stats.get("masters_connected") + " of " + stats.get("masters_total") + " masters connected";
        if (stats.get("masters_connected") == 0) {
            return no(count + "; dialling " + masters);
        }
        return new Readiness(true, "ready: " + count);
    }
}
