// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.dataplane.http.StrictJson;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The body with which a drain job is asked for.
 *
 * @param segments ids of the storage nodes to empty, at least one and each once
 */
record DrainJobRequest(List<String> segments) {
    static final int BODY_BYTES_MAX = 64 << 10;

    private static final String FORM = "send {\"segments\": [\"NODE\", ...]}";
    private static final Set<String> FIELDS = Set.of("segments", "target_segments", "max_concurrency");

    /** Throws IllegalArgumentException with cause and remedy when it is none. */
    static DrainJobRequest parse(String body) {
        JsonNode root = StrictJson.body(body, FORM);
        if (!root.isObject()) {
            throw new IllegalArgumentException("the body is no JSON object: " + FORM);
        }
        root.fieldNames().forEachRemaining(name -> {
            if (!FIELDS.contains(name)) {
                throw new IllegalArgumentException("a drain job has no field of the name " + shown(name)
                        + ", only segments, target_segments and max_concurrency");
            }
        });
        refuseTargets(root.path("target_segments"));
        checkConcurrency(root.path("max_concurrency"));
        return new DrainJobRequest(segments(root.path("segments")));
    }

    private static List<String> segments(JsonNode list) {
        if (!list.isArray() || list.isEmpty()) {
            throw new IllegalArgumentException("segments names no storage node: " + FORM);
        }
        List<String> segments = new ArrayList<>(list.size());
        Set<String> seen = new HashSet<>();
        for (JsonNode each : list) {
            if (!each.isTextual() || each.textValue().isEmpty()) {
                throw new IllegalArgumentException("segments has something that is no name: " + FORM);
            }
            if (!seen.add(each.textValue())) {
                throw new IllegalArgumentException(
                        "segments names " + shown(each.textValue()) + " twice: name it once");
            }
            segments.add(each.textValue());
        }
        return List.copyOf(segments);
    }

    /** Who names targets wants objects there and nowhere else, which is not what would happen. */
    private static void refuseTargets(JsonNode targets) {
        boolean none = targets.isMissingNode() || targets.isNull() || (targets.isArray() && targets.isEmpty());
        if (!none) {
            throw new IllegalArgumentException(
                    "the master chooses where objects go, by free room, and never a node that is being drained: leave target_segments out");
        }
    }

    /** How much is copied at once is bounded for all drains and repairs together, by bytes a second. */
    private static void checkConcurrency(JsonNode most) {
        boolean ok = most.isMissingNode() || most.isNull() || (most.canConvertToInt() && most.intValue() > 0);
        if (!ok) {
            throw new IllegalArgumentException("max_concurrency must be a number of 1 or more, or left out");
        }
    }

    private static String shown(String name) {
        return name.length() <= 64 ? name : name.substring(0, 64) + "...";
    }
}
