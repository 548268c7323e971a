// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Key;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Keys that a node was granted an object of which it has not shown: its writer may be slow, or its record on the way. Should
 * this leader end before it comes, the next one takes it for the key's object unless it finds a newer one or a tombstone.
 */
final class LateWrites {
    /** By key until when one may come, about in the order of these times. */
    private final Map<Key, Long> untilMs = new LinkedHashMap<>();

    /** Until then one of any key may come: more were expected than are kept. */
    private long ofAnyUntilMs = Long.MIN_VALUE;

    /** The grant has ended, and not every target has shown its object. */
    void expect(Grant grant) {
        if (untilMs.size() >= Bounds.GRANTS_MAX) {
            Map.Entry<Key, Long> eldest = untilMs.entrySet().iterator().next();
            ofAnyUntilMs = Math.max(ofAnyUntilMs, eldest.getValue());
            untilMs.remove(eldest.getKey());
        }
        untilMs.merge(grant.key, grant.deadlineMs + Bounds.LATE_WRITE_MS, Math::max);
    }

    boolean mayCome(Key key, long nowMs) {
        return nowMs < ofAnyUntilMs || nowMs < untilMs.getOrDefault(key, Long.MIN_VALUE);
    }

    void expire(long nowMs) {
        var eldestFirst = untilMs.values().iterator();
        while (eldestFirst.hasNext() && eldestFirst.next() <= nowMs) {
            eldestFirst.remove();
        }
    }

    /** What was granted under an earlier epoch is committed, and in view, before the fence, or never. */
    void clear() {
        untilMs.clear();
        ofAnyUntilMs = Long.MIN_VALUE;
    }
}
