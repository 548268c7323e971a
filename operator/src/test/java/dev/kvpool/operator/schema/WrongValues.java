// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.schema;

import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Values that a field must refuse, made from what the schema says of it. */
public final class WrongValues {
    private static final String WORD = "no-such-value";

    /** Above what any number of the API may be, and still exact where numbers are floating. */
    private static final long HUGE = 1L << 52;

    private WrongValues() {}

    /** A value of another type. */
    public static Object ofAnotherType(JSONSchemaProps schema) {
        if (Boolean.TRUE.equals(schema.getXKubernetesIntOrString())) {
            return List.of();
        }
        return switch (schema.getType()) {
            case "string", "array", "object" -> 5;
            case "integer", "number", "boolean" -> WORD;
            default -> throw new IllegalArgumentException("no wrong value is known for type " + schema.getType());
        };
    }

    /** Values of the right type that are too many, too long, too small, too large or not in a list. */
    public static List<Object> outOfBounds(JSONSchemaProps schema) {
        if (Boolean.TRUE.equals(schema.getXKubernetesIntOrString())) {
            return List.of(WORD, -1, "");
        }
        return switch (schema.getType()) {
            case "string" -> schema.getEnum().isEmpty() ? List.of(tooLong(schema)) : List.of(WORD);
            case "integer", "number" -> List.of(-HUGE, HUGE);
            case "array" ->
                Stream.concat(
                                Stream.of(tooMany(schema)),
                                outOfBounds(schema.getItems().getSchema()).stream()
                                        .map(List::of))
                        .collect(Collectors.toList());
            case "object" -> schema.getAdditionalProperties() == null ? List.of() : entries(schema);
            // Both values of a boolean are right, and an object is wrong by its fields.
            default -> List.of();
        };
    }

    private static List<Object> entries(JSONSchemaProps schema) {
        JSONSchemaProps value = schema.getAdditionalProperties().getSchema();
        Map<String, Object> many = new LinkedHashMap<>();
        IntStream.rangeClosed(0, bound(schema.getMaxProperties(), "maxProperties"))
                .forEach(i -> many.put("a" + i, "1"));
        return Stream.concat(Stream.of(many), outOfBounds(value).stream().map(wrong -> Map.of("a", wrong)))
                .collect(Collectors.toList());
    }

    private static String tooLong(JSONSchemaProps schema) {
        return "a".repeat(bound(schema.getMaxLength(), "maxLength") + 1);
    }

    private static List<Object> tooMany(JSONSchemaProps schema) {
        JSONSchemaProps item = schema.getItems().getSchema();
        Object one = switch (item.getType()) {
            case "integer" -> 1;
            case "string" ->
                item.getEnum().isEmpty() ? "a" : item.getEnum().getFirst().asText();
            default -> Map.of();
        };
        return Collections.nCopies(bound(schema.getMaxItems(), "maxItems") + 1, one);
    }

    private static int bound(Long limit, String name) {
        if (limit == null) {
            throw new IllegalArgumentException("the schema states no " + name);
        }
        return Math.toIntExact(limit);
    }
}
