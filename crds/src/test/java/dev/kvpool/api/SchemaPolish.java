// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import io.fabric8.crd.generator.annotation.AdditionalPrinterColumn;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionVersion;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** Adds to a generated CRD what no annotation of the generator can say. */
final class SchemaPolish {
    private static final long MAP_ENTRIES_MAX = 32;

    /** A rule would say it better, but one for each entry of maps in lists exceeds the API server's cost limit. */
    private static final String QUANTITY = "^[0-9]+([.][0-9]*)?([KMGTPE]i|[munkMGTPE]|[eE][0-9]+)?$";

    private static final long TEXT_LENGTH_MAX = 253;

    /** Maps whose values are any text. */
    private static final Set<String> TEXTS = Set.of("annotations", "volumeAttributes");

    private static final long TEXTS_LENGTH_MAX = 4096;

    /** All other maps of texts are labels; what is none, Kubernetes would refuse in an object of the pool, much later. */
    private static final String LABEL_VALUE = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";

    private static final long LABEL_VALUE_LENGTH_MAX = 63;

    /** Lists that are maps: name of the property to its keys. */
    private static final Map<String, String> LIST_MAP_KEYS = Map.ofEntries(
            Map.entry("conditions", "type"),
            Map.entry("storage", "name"),
            Map.entry("env", "name"),
            Map.entry("hostFiles", "path"),
            Map.entry("steps", "of,because"),
            Map.entry("pods", "name"),
            Map.entry("volumes", "name"),
            Map.entry("volumeMounts", "mountPath"),
            Map.entry("tenants", "name"),
            Map.entry("serviceAccounts", "namespace,name"),
            Map.entry("secrets", "name"));

    /** Lists that only the operator writes, and always whole: a list that is a map has each field of each entry in {@code managedFields}. */
    private static final Set<String> ATOMIC = Set.of("stepFacts");

    private final Class<?> kind;

    SchemaPolish(Class<?> kind) {
        this.kind = kind;
    }

    CustomResourceDefinition apply(CustomResourceDefinition crd) {
        for (CustomResourceDefinitionVersion version : crd.getSpec().getVersions()) {
            JSONSchemaProps root = version.getSchema().getOpenAPIV3Schema();
            root.setRequired(List.of("spec"));
            describe(root);
            walk("", root);
            orderColumns(version);
        }
        return crd;
    }

    /** The generator takes descriptions of properties only, and spec and status are none of our types. */
    private void describe(JSONSchemaProps root) {
        root.setDescription(description(kind));
        Type[] parts = ((ParameterizedType) kind.getGenericSuperclass()).getActualTypeArguments();
        root.getProperties().get("spec").setDescription(description((Class<?>) parts[0]));
        root.getProperties().get("status").setDescription(description((Class<?>) parts[1]));
    }

    private static String description(Class<?> type) {
        return type.getAnnotation(JsonClassDescription.class).value();
    }

    private void walk(String name, JSONSchemaProps schema) {
        dropRepeatedRules(schema);
        boundJudged(schema);
        if ("array".equals(schema.getType()) && LIST_MAP_KEYS.containsKey(name)) {
            schema.setXKubernetesListType("map");
            schema.setXKubernetesListMapKeys(List.of(LIST_MAP_KEYS.get(name).split(",")));
        }
        if ("array".equals(schema.getType()) && ATOMIC.contains(name)) {
            schema.setXKubernetesListType("atomic");
        }
        if ("lastTransitionTime".equals(name)) {
            schema.setFormat("date-time");
        }
        if (schema.getProperties() != null) {
            schema.getProperties().forEach(this::walk);
        }
        if (schema.getItems() != null) {
            boundText(schema.getItems().getSchema());
            walk("", schema.getItems().getSchema());
        }
        if (schema.getAdditionalProperties() != null
                && schema.getAdditionalProperties().getSchema() != null) {
            schema.setMaxProperties(MAP_ENTRIES_MAX);
            boundEntry(name, schema.getAdditionalProperties().getSchema());
            boundQuantity(schema.getAdditionalProperties().getSchema());
            walk("", schema.getAdditionalProperties().getSchema());
        }
    }

    /** An annotation of a record component ends up on its field and on its accessor, and the generator takes both. */
    private static void dropRepeatedRules(JSONSchemaProps schema) {
        var rules = schema.getXKubernetesValidations();
        if (rules != null && !rules.isEmpty()) {
            schema.setXKubernetesValidations(new ArrayList<>(new LinkedHashSet<>(rules)));
        }
    }

    /** A text that is no quantity could not even be read by the operator, and would hide all other resources from it. */
    private static void boundQuantity(JSONSchemaProps schema) {
        if (Boolean.TRUE.equals(schema.getXKubernetesIntOrString())) {
            schema.setPattern(QUANTITY);
            // The pattern is for texts; a quantity may be a number too.
            schema.setMinimum(0.0);
        }
    }

    /** The API server estimates what a rule about a text costs by the longest that there may be. */
    private static void boundJudged(JSONSchemaProps schema) {
        if (schema.getXKubernetesValidations() != null
                && !schema.getXKubernetesValidations().isEmpty()) {
            boundText(schema);
        }
    }

    private static void boundText(JSONSchemaProps schema) {
        if ("string".equals(schema.getType()) && schema.getEnum().isEmpty() && schema.getMaxLength() == null) {
            schema.setMaxLength(TEXT_LENGTH_MAX);
        }
    }

    private static void boundEntry(String map, JSONSchemaProps schema) {
        if ("string".equals(schema.getType()) && TEXTS.contains(map)) {
            schema.setMaxLength(TEXTS_LENGTH_MAX);
        } else if ("string".equals(schema.getType())) {
            schema.setMaxLength(LABEL_VALUE_LENGTH_MAX);
            schema.setPattern(LABEL_VALUE);
        }
    }

    /** The generator sorts columns by path; people read them in the order they were declared. */
    private void orderColumns(CustomResourceDefinitionVersion version) {
        List<String> declared = Stream.of(kind.getAnnotationsByType(AdditionalPrinterColumn.class))
                .map(AdditionalPrinterColumn::name)
                .toList();
        var columns = new ArrayList<>(version.getAdditionalPrinterColumns());
        columns.sort(Comparator.comparingInt(column -> declared.indexOf(column.getName())));
        version.setAdditionalPrinterColumns(columns);
    }
}
