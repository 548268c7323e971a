// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.operator.pool.observation.PoolObservation;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What Kubernetes says about pods that it cannot create. */
final class PodRefusalWords {
    private PodRefusalWords() {}

    /** Sentences, each with a blank before it; empty when there is nothing to say. */
    static String sentences(PoolObservation seen) {
        Map<String, String> ofWorkloads = new TreeMap<>();
        seen.refusals().forEach(refusal -> ofWorkloads.putIfAbsent(refusal.workload(), refusal.why()));
        return ofWorkloads.entrySet().stream()
                .limit(PodTroubles.PODS_MAX)
                .map(refusal ->
                        " Kubernetes cannot create pods of %s: %s.".formatted(refusal.getKey(), refusal.getValue()))
                .collect(Collectors.joining());
    }
}
