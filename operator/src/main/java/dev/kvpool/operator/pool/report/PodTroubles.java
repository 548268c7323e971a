// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.operator.pool.observation.ObservedPod;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** What Kubernetes says about pods that are not ready. */
final class PodTroubles {
    /** More would not help a reader, and the status must stay small. */
    static final int PODS_MAX = 5;

    private PodTroubles() {}

    /** Sentences, each with a blank before it; empty when there is nothing to say. */
    static String sentences(List<ObservedPod> pods) {
        return pods.stream()
                .filter(pod -> !pod.ready() && !pod.trouble().isEmpty())
                .sorted(Comparator.comparing(ObservedPod::name))
                .limit(PODS_MAX)
                .map(pod -> " Pod %s %s.".formatted(pod.name(), pod.trouble()))
                .collect(Collectors.joining());
    }
}
