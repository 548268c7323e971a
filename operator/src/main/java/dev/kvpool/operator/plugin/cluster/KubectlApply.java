// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.operator.plugin.plan.ThreeWayMerge;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.dsl.FieldValidateable.Validation;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What the API server would store if kubectl applied an object, by a dry run of the same request: the one of server-side apply for an object that
 * was applied so, else a merge patch of the file, the file applied last, and the object.
 */
final class KubectlApply {
    private static final String LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

    private final Cluster on;
    private final ApplyOptions options;
    private final ResourceDefinitionContext kind;

    KubectlApply(Cluster on, ApplyOptions options, Class<? extends HasMetadata> kind) {
        this.on = on;
        this.options = options;
        this.kind = ResourceDefinitionContext.fromResourceType(kind);
    }

    GenericKubernetesResource stored(GenericKubernetesResource wanted) {
        var all = on.client().genericKubernetesResources(kind).inNamespace(on.namespace());
        var one = all.withName(wanted.getMetadata().getName());
        GenericKubernetesResource actual = one.get();
        if (actual == null) {
            return all.resource(wanted)
                    .dryRun()
                    .fieldValidation(Validation.STRICT)
                    .create();
        }
        Optional<ObjectNode> before = lastApplied(actual);
        Optional<String> asked = options.manager();
        Optional<String> manager = asked.or(() -> before.isEmpty() ? manager(actual) : Optional.empty());
        if (manager.isPresent()) {
            // Other tools than kubectl take over what others have set.
            boolean force = asked.isPresent() ? options.force() : !manager.get().equals(ApplyOptions.KUBECTL);
            PatchContext apply = dryRun(PatchType.SERVER_SIDE_APPLY)
                    .withFieldManager(manager.get())
                    .withForce(force)
                    .build();
            GenericKubernetesResource applied = all.resource(wanted).patch(apply, wanted);
            // What kubectl applied as a client it makes that manager's then, unless the apply was refused, and
            // applies the file once more: what is gone from the file goes, as by a merge.
            boolean migrates = before.isPresent() && wasAppliedByClient(actual);
            if (!migrates) {
                return applied;
            }
        }
        ObjectNode patch = ThreeWayMerge.patch(
                before.orElseGet(JsonNodeFactory.instance::objectNode), noted(wanted), tree(actual));
        return one.patch(dryRun(PatchType.JSON_MERGE).build(), patch.toString());
    }

    private static PatchContext.Builder dryRun(PatchType how) {
        return new PatchContext.Builder()
                .withDryRun(List.of("All"))
                .withFieldValidation("Strict")
                .withPatchType(how);
    }

    private Optional<ObjectNode> lastApplied(GenericKubernetesResource actual) {
        return Optional.of(actual.getMetadata())
                .map(ObjectMeta::getAnnotations)
                .map(annotations -> annotations.get(LAST_APPLIED))
                .map(text -> text().unmarshal(text, JsonNode.class))
                .filter(ObjectNode.class::isInstance)
                .map(ObjectNode.class::cast);
    }

    private static boolean wasAppliedByClient(GenericKubernetesResource actual) {
        return actual.getMetadata().getManagedFields().stream()
                .filter(entry -> "Update".equals(entry.getOperation()) && entry.getFieldsV1() != null)
                .anyMatch(entry ->
                        entry.getFieldsV1().getAdditionalProperties().get("f:metadata") instanceof Map<?, ?> metadata
                                && metadata.get("f:annotations") instanceof Map<?, ?> annotations
                                && annotations.containsKey("f:" + LAST_APPLIED));
    }

    /** Who applied its spec on the server's side last, kubectl before others. Tools that label what others apply do so too. */
    private static Optional<String> manager(GenericKubernetesResource actual) {
        return actual.getMetadata().getManagedFields().stream()
                .filter(entry -> "Apply".equals(entry.getOperation()) && entry.getSubresource() == null)
                .filter(entry -> entry.getFieldsV1() != null
                        && entry.getFieldsV1().getAdditionalProperties().containsKey("f:spec"))
                .max(Comparator.comparing((ManagedFieldsEntry entry) -> ApplyOptions.KUBECTL.equals(entry.getManager()))
                        .thenComparing(entry -> Objects.requireNonNullElse(entry.getTime(), "")))
                .map(ManagedFieldsEntry::getManager);
    }

    /** With the note that kubectl leaves of what it applies; there are annotations in what it applies for that, and in what it notes. */
    private ObjectNode noted(GenericKubernetesResource wanted) {
        ObjectNode noted = tree(wanted);
        ObjectNode annotations = noted.withObject("/metadata/annotations");
        String text = noted.toString();
        annotations.put(LAST_APPLIED, text);
        return noted;
    }

    private ObjectNode tree(GenericKubernetesResource object) {
        return text().convertValue(object, ObjectNode.class);
    }

    private KubernetesSerialization text() {
        return on.client().getKubernetesSerialization();
    }
}
