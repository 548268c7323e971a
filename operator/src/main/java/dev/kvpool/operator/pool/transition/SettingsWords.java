// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Says how far pods are that were made with other settings than the spec has now. */
final class SettingsWords {
    private SettingsWords() {}

    /** That a pod that was replaced has lost something, so that no other one is. */
    static String lossy(PoolReport.Node node, List<ObservedPod> pods) {
        return ("%s came back without %d of its objects, so %s %s earlier settings. Its log says why. When that is put right,"
                        + " another leader goes on from what is there: kubectl kvpool failover. spec.onDataLoss Replace goes on"
                        + " whatever is lost.")
                .formatted(
                        node.id(), node.lostAtReturn(), BytesAtStake.names(pods), pods.size() == 1 ? "keeps" : "keep");
    }

    /**
     * What is replaced a few at a time; no sentence when nothing is.
     *
     * @param pods those that still have to be replaced
     */
    static List<String> replacing(List<ObservedPod> pods, List<StepStatus> steps, List<Wait> waiting) {
        List<StepStatus> underWay = steps.stream()
                .filter(step -> step.because() == StepCause.SETTINGS)
                .toList();
        if (pods.isEmpty() && underWay.isEmpty()) {
            return List.of();
        }
        List<String> names = Stream.concat(
                        pods.stream().map(ObservedPod::name), underWay.stream().map(StepStatus::of))
                .distinct()
                .sorted()
                .toList();
        String why = underWay.stream()
                .filter(step -> step.state() == StepState.FAILED)
                .map(StepStatus::waitsFor)
                .findFirst()
                .or(() -> underWay.isEmpty()
                        ? waiting.stream()
                                .filter(wait -> wait.because() == StepCause.SETTINGS)
                                .map(Wait::sentence)
                                .findFirst()
                        : Optional.empty())
                .map(": "::concat)
                .orElse("");
        return List.of("%s %s replaced, as the settings have changed, a few at a time%s."
                .formatted(NameList.of(names), names.size() == 1 ? "is" : "are", why));
    }
}
