// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Objects pending free that are still in some directory, and unsettled ones that a newer one on nodes away outdoes, by key. As long as one is there, a leader after this one would take it
 * for the key's object if it found no newer one: so nothing newer of that key may vanish without a trace.
 */
public final class Remains {
    private final Map<Key, List<ObjectId>> byKey = new HashMap<>();

    void add(Key key, ObjectId id) {
        byKey.computeIfAbsent(key, it -> new ArrayList<>(1)).add(id);
    }

    void remove(Key key, ObjectId id) {
        List<ObjectId> ids = byKey.get(key);
        if (ids != null && ids.remove(id) && ids.isEmpty()) {
            byKey.remove(key);
        }
    }

    public List<ObjectId> of(Key key) {
        return byKey.getOrDefault(key, List.of());
    }

    public boolean isEmpty() {
        return byKey.isEmpty();
    }

    /** Whether there is one with this id or a lower one. */
    public boolean has(Key key, ObjectId upTo) {
        for (ObjectId id : of(key)) {
            if (!id.isNewerThan(upTo)) {
                return true;
            }
        }
        return false;
    }
}
