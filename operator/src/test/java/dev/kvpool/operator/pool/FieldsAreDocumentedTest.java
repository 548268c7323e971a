// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.operator.GeneratedDocument;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.plan.PoolImage;
import dev.kvpool.operator.pool.storage.StoragePlan;
import dev.kvpool.operator.schema.FieldChange;
import dev.kvpool.operator.schema.FieldChange.Kind;
import dev.kvpool.operator.schema.SchemaFields;
import dev.kvpool.operator.schema.SpecDocument;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaProps;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * docs/reference/fields.md lists every field of the custom resources, with what the schema says of it and what a change of it costs a
 * running pool. The costs come from plans before and after a change, those of the tables of {@link EveryFieldCountsTest}.
 */
class FieldsAreDocumentedTest {
    /** Refused by rules that compare with what is there; {@code StorageVolumesTest} tries them. */
    private static final Set<String> UNCHANGEABLE = Set.of(
            "spec.storage.volume.type",
            "spec.storage.volume.storageClassName",
            "spec.storage.volume.path",
            "spec.storage.ssd.storageClassName",
            "spec.storage.ssd.volumeMode",
            "spec.storage.ssd.path");

    /** Refused by the same kind of rules where the volume outlives pods, and carried out elsewhere. */
    private static final Set<String> UNCHANGEABLE_ON_LASTING_VOLUMES =
            Set.of("spec.storage.capacity", "spec.storage.ssd.capacity", "spec.storage.ssd.encryption.keySecret");

    /** Of its row, which changes it alone, the other mode is for pools without storage nodes. */
    private static final FieldChange MODE = new FieldChange(
            "spec.accelerator.mode",
            SpecDocument.of("{protocols: [ascend, tcp], accelerator: {chip: A3}}"),
            SpecDocument.of("{protocols: [ascend, tcp], accelerator: {chip: A3, mode: Shared, devices: [0]}}"));

    private static final String TWO_SETS =
            "{transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi}]}";
    private static final String MASTERS = "demo-master";
    private static final String AGENTS = "demo-agent";

    @Test
    void theDocumentIsCurrent() throws IOException {
        GeneratedDocument.assertCurrent("fields.md", document());
    }

    private static String document() {
        StringBuilder text = new StringBuilder("""
                # Fields of the custom resources

                Generated from the CRDs and from what the operator plans before and after a change of each field; a test fails when
                this page is stale. The last column says what a change costs a running pool:

                | cost | meaning |
                |---|---|
                | live | No pod is restarted or replaced. |
                | upgrade | Carried out by the steps of an upgrade, in the running pods. |
                | masters replaced | One by one, standbys first. |
                | storage replaced | One at a time. With `onDataLoss: Move` each storage node is emptied first; with `Replace`, or where its volume outlives its pod, it is not. Otherwise the change is held back while storage nodes hold bytes, until their pods are deleted. |
                | agents replaced | By Kubernetes, a few at a time; agents hold nothing. |
                | emptied | Storage nodes that go with the change, or with its opposite, are emptied first. |
                | refused | By the API server. |

                A volume outlives its pod when it is a `persistentVolumeClaim` or a `hostPath`. To change the capacity of such a set, add a
                set with the other capacity and remove the first one.
                """);
        append(text, Kind.POOL);
        append(text, Kind.ENGINE);
        for (Kind kind : Kind.values()) {
            text.append("\n## Status of ")
                    .append(kind.title())
                    .append("\n\n| field | type | meaning |\n|---|---|---|\n");
            SchemaFields.withObjects(kind.crd(), "status")
                    .forEach((field, schema) ->
                            text.append("| `%s` | %s | %s |\n".formatted(field, type(schema), meaning(schema))));
        }
        return text.toString();
    }

    private static void append(StringBuilder text, Kind kind) {
        Map<String, String> costs = new TreeMap<>();
        kind.changes().forEach(change -> costs.put(change.field(), String.join(", ", costs(kind, change))));
        if (kind == Kind.ENGINE) {
            costs.put(MODE.field(), String.join(", ", costs(kind, MODE)));
        }
        text.append("\n## ")
                .append(kind.title())
                .append("\n\n| field | type | default | meaning | a change is |\n|---|---|---|---|---|\n");
        Set<String> leaves = SchemaFields.of(kind.crd());
        SchemaFields.withObjects(kind.crd(), "spec").forEach((field, schema) -> {
            String cost = UNCHANGEABLE.contains(field)
                    ? "refused: add another set"
                    : costs.getOrDefault(field, "refused")
                            + (UNCHANGEABLE_ON_LASTING_VOLUMES.contains(field)
                                    ? "; refused where the volume outlives pods"
                                    : "");
            text.append("| `%s` | %s | %s | %s | %s |\n"
                    .formatted(
                            field,
                            type(schema),
                            byDefault(schema),
                            meaning(schema),
                            leaves.contains(field) ? cost : ""));
        });
    }

    private static String type(JSONSchemaProps schema) {
        JSONSchemaProps inner =
                schema.getItems() == null ? schema : schema.getItems().getSchema();
        String type = inner.getEnum() != null && !inner.getEnum().isEmpty()
                ? inner.getEnum().stream().map(JsonNode::asText).collect(Collectors.joining(", "))
                : Boolean.TRUE.equals(inner.getXKubernetesIntOrString()) ? "quantity" : inner.getType();
        return schema.getItems() == null ? type : "list of " + type;
    }

    private static String byDefault(JSONSchemaProps schema) {
        return schema.getDefault() == null || schema.getDefault().isContainerNode()
                ? ""
                : "`" + schema.getDefault().asText() + "`";
    }

    private static String meaning(JSONSchemaProps schema) {
        return schema.getDescription() == null
                ? ""
                : schema.getDescription().replace("|", "\\|").replaceAll("\\s+", " ");
    }

    private static List<String> costs(Kind kind, FieldChange change) {
        PoolSketch old = sketch(kind, change.before());
        PoolSketch now = sketch(kind, change.after());
        List<String> costs = new ArrayList<>();
        if (!PoolImage.reference(old.observation().spec(), PoolSketch.SETTINGS, Optional.empty())
                .equals(PoolImage.reference(now.observation().spec(), PoolSketch.SETTINGS, Optional.empty()))) {
            costs.add("upgrade");
        }
        Map<String, String> digests = digests(old);
        Map<String, String> changed = digests(now);
        changed.keySet().retainAll(digests.keySet());
        changed.entrySet().removeIf(entry -> digests.get(entry.getKey()).equals(entry.getValue()));
        if (changed.containsKey(MASTERS)) {
            costs.add("masters replaced");
        }
        if (changed.containsKey(AGENTS)) {
            costs.add("agents replaced");
        }
        if (!Set.of(MASTERS, AGENTS).containsAll(changed.keySet())) {
            costs.add("storage replaced");
        }
        if (empties(old, now) || empties(now, old)) {
            costs.add("emptied");
        }
        return costs.isEmpty() ? List.of("live") : costs;
    }

    private static PoolSketch sketch(Kind kind, SpecDocument spec) {
        if (kind == Kind.ENGINE) {
            return new PoolSketch(TWO_SETS).node("n1", Map.of("a", "b")).engine(spec.text());
        }
        return new PoolSketch(spec.text())
                .node("n1", Map.of())
                .node("n2", Map.of("a", "b"))
                .engine("{}")
                .engine("other", "{protocols: [tcp], timeouts: {connect: 1s}}");
    }

    /** What the pods of each set, and agents, are made with, by the name of what makes them. */
    private static Map<String, String> digests(PoolSketch sketch) {
        Map<String, String> digests = new TreeMap<>();
        for (HasMetadata child : sketch.plan().apply()) {
            template(child)
                    .ifPresent(template -> digests.put(child.getMetadata().getName(), digest(template)));
        }
        return digests;
    }

    /** Agents have no digest: whatever is in their template counts. */
    private static String digest(PodTemplateSpec template) {
        return template.getMetadata().getAnnotations().getOrDefault(PoolLabels.SETTINGS, template.toString());
    }

    private static Optional<PodTemplateSpec> template(HasMetadata child) {
        return switch (child) {
            case StatefulSet set -> Optional.of(set.getSpec().getTemplate());
            case DaemonSet set -> Optional.of(set.getSpec().getTemplate());
            default -> Optional.empty();
        };
    }

    /** Whether storage nodes of a pool as it is now have no place in what it shall be. */
    private static boolean empties(PoolSketch is, PoolSketch shall) {
        List<String> wanted = StoragePlan.of(shall.observation(), Set.of()).expectedNodes();
        return !wanted.containsAll(StoragePlan.of(is.observation(), Set.of()).expectedNodes());
    }
}
