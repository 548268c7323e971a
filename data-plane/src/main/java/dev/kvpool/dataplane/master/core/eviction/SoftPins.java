// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.eviction;

import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.wire.message.Retention;

/** How long soft pins last. */
public final class SoftPins {
    private SoftPins() {}

    /** Whether the object has one that is not over. It runs from the publish or from the end of the last lease. */
    public static boolean holds(StoredObject object, EvictionRules rules, long nowMs) {
        Retention retention = object.retention();
        return retention.soft() && nowMs - object.leaseUntilMs() < lengthMs(retention, rules);
    }

    static long lengthMs(Retention retention, EvictionRules rules) {
        long pinMs = retention.softMs() == 0 ? rules.softPinMs() : retention.softMs();
        return Math.min(pinMs, EvictionRules.SOFT_PIN_MS_MAX);
    }
}
