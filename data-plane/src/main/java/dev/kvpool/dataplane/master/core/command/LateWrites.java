// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.command;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.wire.message.Key;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Keys of which a node may still show an object: its writer or the copy of it may be slow, or its record on the way. Should
 * this leader end before it comes, the next one takes it for the key's object unless it finds a newer one or a tombstone.
 */
public final class LateWrites {
    private static final class Late {
        final Set<NodeView> nodes = new HashSet<>(2);
        long untilMs;
    }

    /** About in the order of the times until when one may come. */
    private final SequencedMap<Key, Late> byKey = new LinkedHashMap<>();

    /** Until then one of any key may come: more were expected than are kept. */
    private long ofAnyUntilMs = Long.MIN_VALUE;

    /** The grant has ended, and not every target has shown its object. */
    void expect(Grant grant) {
        expect(grant.key, grant.targets, grant.deadlineMs + Bounds.LATE_WRITE_MS);
    }

    /** Some nodes may show an object of a key until then. */
    public void expect(Key key, Collection<NodeView> nodes, long untilMs) {
        if (byKey.size() >= Bounds.GRANTS_MAX) {
            ofAnyUntilMs = Math.max(ofAnyUntilMs, byKey.pollFirstEntry().getValue().untilMs);
        }
        Late late = byKey.computeIfAbsent(key, it -> new Late());
        late.untilMs = Math.max(late.untilMs, untilMs);
        late.nodes.addAll(nodes);
    }

    public boolean mayCome(Key key, long nowMs) {
        Late late = byKey.get(key);
        return nowMs < ofAnyUntilMs || (late != null && nowMs < late.untilMs);
    }

    /** Nodes on which one of the key may come, as far as is known. */
    public Set<NodeView> nodesOf(Key key, long nowMs) {
        Late late = byKey.get(key);
        return late != null && nowMs < late.untilMs ? late.nodes : Set.of();
    }

    /** The copy of a large object may come much later than what was expected after it: such a one goes to the end, and does not keep others. */
    void expire(long nowMs) {
        while (!byKey.isEmpty()) {
            Map.Entry<Key, Late> eldest = byKey.firstEntry();
            long leftMs = eldest.getValue().untilMs - nowMs;
            if (leftMs > Bounds.LATE_WRITE_MS) {
                byKey.putLast(eldest.getKey(), eldest.getValue());
            }
            if (leftMs > 0) {
                return;
            }
            byKey.pollFirstEntry();
        }
    }

    /** What was granted under an earlier epoch is committed, and in view, before the fence, or never. */
    void clear() {
        byKey.clear();
        ofAnyUntilMs = Long.MIN_VALUE;
    }
}
