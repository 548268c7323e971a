// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.api.v1alpha1.pod.SecretName;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.List;
import java.util.Optional;

/**
 * Pods that could not pull what the preflight's Job can: an upgrade changes the image of a pod as it is, and that has the Secrets it was
 * made with, while Jobs have those that the spec names now. Pure.
 */
final class PullSecrets {
    private PullSecrets() {}

    /**
     * Which pods lack a Secret, and how to fix it, as a part of a sentence; empty when none does.
     *
     * @param image what they are to run
     */
    static Optional<String> lacking(PoolObservation seen, String image) {
        List<String> wanted =
                seen.spec().imagePullSecrets().stream().map(SecretName::name).toList();
        List<ObservedPod> lack = seen.pods().stream()
                .filter(pod ->
                        pod.role().equals(PoolLabels.ROLE_MASTER) || pod.role().equals(PoolLabels.ROLE_STORAGE))
                .filter(pod -> pod.started() && !pod.leaving() && !pod.image().equals(image))
                .filter(pod -> !pod.pullSecrets().containsAll(wanted))
                .toList();
        if (lack.isEmpty()) {
            return Optional.empty();
        }
        List<String> missing = wanted.stream()
                .filter(secret ->
                        lack.stream().anyMatch(pod -> !pod.pullSecrets().contains(secret)))
                .toList();
        return Optional.of(
                ("%s %s created before spec.imagePullSecrets had %s, and %s image would be pulled without: change the"
                                + " content of a Secret that %s instead, or have %s recreated with the current version first"
                                + " (spec.onDataLoss: Move)")
                        .formatted(
                                ObservedPod.names(lack),
                                lack.size() == 1 ? "was" : "were",
                                NameList.of(missing),
                                lack.size() == 1 ? "its" : "their",
                                lack.size() == 1 ? "it has" : "they have",
                                lack.size() == 1 ? "it" : "them"));
    }
}
