// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.Workloads;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import java.util.Map;
import java.util.Optional;

/**
 * What a template of pods says of itself.
 *
 * @param settings digest of the pods' settings
 * @param asked digest of what the user asks for; empty for a template that says nothing
 */
public record TemplateNotes(String settings, String asked) {
    /** Empty for an object that has no pods. */
    public static Optional<TemplateNotes> of(HasMetadata workload) {
        return Workloads.template(workload).map(TemplateNotes::of);
    }

    public static TemplateNotes of(PodTemplateSpec template) {
        Map<String, String> annotations = Optional.ofNullable(template.getMetadata())
                .map(ObjectMeta::getAnnotations)
                .orElse(Map.of());
        return new TemplateNotes(
                annotations.getOrDefault(PoolLabels.SETTINGS, ""), annotations.getOrDefault(PoolLabels.ASKED, ""));
    }

    /** Whether another operator makes other pods of the same wish. */
    public boolean isOtherwiseFrom(TemplateNotes stored) {
        return !stored.asked.isEmpty() && asked.equals(stored.asked) && !settings.equals(stored.settings);
    }

    /** Whether a pod has other settings. An image is no setting. */
    public boolean differsFrom(ObservedPod pod) {
        return !settings.isEmpty() && !settings.equals(pod.settings());
    }
}
