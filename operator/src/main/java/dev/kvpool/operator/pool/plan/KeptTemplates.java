// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.Workloads;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings.RolloutTerms;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.TemplateNotes;
import dev.kvpool.operator.pool.storage.StoragePlan;
import dev.kvpool.operator.pool.transition.Deferred;
import dev.kvpool.operator.pool.transition.TransitionView;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Templates that stay as an earlier operator made them, where this one makes other pods of the same spec, so that a pod that dies meanwhile
 * comes back as it was. Pure.
 *
 * @param templates by kind and name of their workload
 * @param deferred the pods that were made from them
 */
record KeptTemplates(Map<String, PodTemplateSpec> templates, Deferred deferred) {

    /**
     * Finds them. In a pool that was never led nothing runs that would be worth it.
     *
     * @param made what the templates that this operator makes say, by kind and name of their workload
     * @param turn whether it is this pool's turn
     */
    static KeptTemplates of(
            PoolObservation seen,
            TransitionView view,
            Map<String, TemplateNotes> made,
            RolloutTerms rollout,
            boolean turn) {
        Map<String, PodTemplateSpec> templates = new HashMap<>();
        List<ObservedPod> untilTurn = new ArrayList<>();
        List<ObservedPod> untilAsked = new ArrayList<>();
        List<HasMetadata> workloads = RollViews.everLed(seen) ? seen.children() : List.of();
        for (HasMetadata workload : workloads) {
            Optional<PodTemplateSpec> stored = Workloads.template(workload).filter(template -> {
                TemplateNotes notes = made.get(ObjectTitle.of(workload));
                return notes != null && notes.isOtherwiseFrom(TemplateNotes.of(template));
            });
            boolean asked = stored.isPresent() && isLeftToUsers(workload, view.terms(), rollout);
            if (stored.isPresent() && (asked || !turn)) {
                templates.put(ObjectTitle.of(workload), stored.get());
                // What was made from another template than the workload has now is no matter of that.
                String settings = TemplateNotes.of(stored.get()).settings();
                seen.pods().stream()
                        .filter(pod ->
                                seen.makes(workload, pod) && pod.settings().equals(settings))
                        .filter(pod -> !pod.leaving() && view.goals().want(pod))
                        .forEach((asked ? untilAsked : untilTurn)::add);
            }
        }
        return new KeptTemplates(templates, new Deferred(untilTurn, untilAsked));
    }

    private static boolean isLeftToUsers(HasMetadata workload, TransitionView.Terms terms, RolloutTerms rollout) {
        String role = workload.getMetadata().getLabels().getOrDefault(PoolLabels.ROLE, "");
        return terms.isLeftToUsers(role, StoragePlan.outlivesPods(workload), rollout);
    }
}
