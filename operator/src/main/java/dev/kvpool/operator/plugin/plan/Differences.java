// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.plan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Which fields of an object differ, as paths such as {@code spec.template.spec.containers[0].args[3]}. Pure. */
public final class Differences {
    /** More say no more. */
    private static final int PATHS_MAX = 8;

    /** What the API server writes beside what anybody asks for. */
    private static final Set<String> SERVERS_OWN = Set.of(
            "status",
            "metadata.managedFields",
            "metadata.resourceVersion",
            "metadata.generation",
            "metadata.creationTimestamp",
            "metadata.uid");

    private final List<String> paths = new ArrayList<>();

    private Differences() {}

    /** Those of two versions of an object; of many, how many there are more. */
    public static List<String> between(JsonNode before, JsonNode after) {
        Differences differences = new Differences();
        differences.compare("", before, after);
        List<String> found = differences.paths;
        return found.size() <= PATHS_MAX
                ? found
                : List.of(
                        String.join(", ", found.subList(0, PATHS_MAX)), "and " + (found.size() - PATHS_MAX) + " more");
    }

    private void compare(String path, JsonNode before, JsonNode after) {
        if (SERVERS_OWN.contains(path) || before.equals(after)) {
            return;
        }
        if (before.isObject() && after.isObject()) {
            Set<String> names = new TreeSet<>();
            before.fieldNames().forEachRemaining(names::add);
            after.fieldNames().forEachRemaining(names::add);
            names.forEach(
                    name -> compare(path.isEmpty() ? name : path + "." + name, before.path(name), after.path(name)));
        } else if (before.isArray() && after.isArray() && before.size() == after.size()) {
            for (int i = 0; i < before.size(); i++) {
                compare(path + "[" + i + "]", before.get(i), after.get(i));
            }
        } else {
            paths.add(path);
        }
    }
}
