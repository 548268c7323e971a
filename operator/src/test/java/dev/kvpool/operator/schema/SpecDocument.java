// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.schema;

import com.fasterxml.jackson.core.type.TypeReference;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A spec as a user writes it, whose fields can be read and set by their paths.
 *
 * @param values the spec; not shared
 */
public record SpecDocument(Map<String, Object> values) {
    private static final KubernetesSerialization YAML = new KubernetesSerialization();
    private static final String ROOT = "spec";

    public static SpecDocument of(String yaml) {
        return new SpecDocument(
                YAML.unmarshal("--- " + yaml.strip(), new TypeReference<LinkedHashMap<String, Object>>() {}));
    }

    /** As text in one line. */
    public String text() {
        return YAML.asJson(values);
    }

    /** With the fields of another one which it lacks. */
    SpecDocument withDefaults(SpecDocument others) {
        SpecDocument copy = of(text());
        others.values.forEach(copy.values::putIfAbsent);
        return copy;
    }

    /** The value of a field of the spec itself; null when it has none. */
    public Object get(String name) {
        return values.get(name);
    }

    /** A copy with another value for a field; of lists on the way to it the first entry is taken. */
    public SpecDocument with(String path, Object value) {
        SpecDocument copy = of(text());
        String[] names = path.split("[.]", -1);
        Map<String, Object> parent = copy.values;
        for (int i = 1; i < names.length - 1; i++) {
            parent = child(parent, names[i]);
        }
        parent.put(names[names.length - 1], value);
        return copy;
    }

    /** A copy that lacks a field, all that is in it included; of lists on the way to it the first entry is taken. */
    public SpecDocument without(String path) {
        SpecDocument copy = of(text());
        String[] names = path.split("[.]", -1);
        Map<String, Object> parent = copy.values;
        for (int i = 1; i < names.length - 1; i++) {
            parent = child(parent, names[i]);
        }
        parent.remove(names[names.length - 1]);
        return copy;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> child(Map<String, Object> parent, String name) {
        Object child = parent.computeIfAbsent(name, absent -> new LinkedHashMap<>());
        return (Map<String, Object>) (child instanceof List<?> list ? list.getFirst() : child);
    }

    /** All values of each of the named fields, in their order. A field without any is left out. */
    public SortedMap<String, List<Object>> valuesOf(Set<String> fields) {
        SortedMap<String, List<Object>> found = new TreeMap<>();
        collect(ROOT, values, fields, found);
        return found;
    }

    private static void collect(String path, Object value, Set<String> fields, Map<String, List<Object>> found) {
        if (fields.contains(path)) {
            found.computeIfAbsent(path, absent -> new ArrayList<>()).add(value);
        } else if (value instanceof Map<?, ?> map) {
            map.forEach((name, inner) -> collect(path + "." + name, inner, fields, found));
        } else if (value instanceof List<?> list) {
            list.forEach(inner -> collect(path, inner, fields, found));
        } else {
            throw new IllegalArgumentException("the CRD has no field " + path);
        }
    }
}
