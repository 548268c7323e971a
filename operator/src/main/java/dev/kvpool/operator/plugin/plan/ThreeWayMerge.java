// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.plan;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * What kubectl apply sends for a custom resource: a merge patch (RFC 7386) with what the file says otherwise than the stored object, and
 * without what the file last applied had and this one has not, or has newly as null. What others have set stays. Pure.
 */
public final class ThreeWayMerge {
    private ThreeWayMerge() {}

    /**
     * The patch.
     *
     * @param before what was applied last; an empty object where that is not known
     * @param wanted what is applied now
     * @param actual the object as it is stored
     */
    public static ObjectNode patch(ObjectNode before, ObjectNode wanted, ObjectNode actual) {
        ObjectNode patch = changes(wanted, actual);
        remove(before, wanted, patch);
        return patch;
    }

    private static ObjectNode changes(ObjectNode wanted, ObjectNode actual) {
        ObjectNode changes = wanted.objectNode();
        wanted.forEachEntry((name, value) -> {
            JsonNode now = actual.path(name);
            if (value instanceof ObjectNode inner && now instanceof ObjectNode there) {
                ObjectNode within = changes(inner, there);
                if (!within.isEmpty()) {
                    changes.set(name, within);
                }
            } else if (!value.isNull() && !value.equals(now)) {
                changes.set(name, value);
            }
        });
        return changes;
    }

    private static void remove(ObjectNode before, ObjectNode wanted, ObjectNode patch) {
        before.forEachEntry((name, value) -> {
            if (!wanted.has(name)) {
                patch.putNull(name);
            }
        });
        wanted.forEachEntry((name, value) -> {
            JsonNode had = before.path(name);
            if (value.isNull() && !had.isNull()) {
                patch.putNull(name);
            } else if (value instanceof ObjectNode inner) {
                ObjectNode within = patch.path(name) instanceof ObjectNode known ? known : patch.objectNode();
                remove(had instanceof ObjectNode there ? there : patch.objectNode(), inner, within);
                if (!within.isEmpty()) {
                    patch.set(name, within);
                }
            }
        });
    }
}
