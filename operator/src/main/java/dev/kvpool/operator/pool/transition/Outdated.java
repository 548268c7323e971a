// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.operator.pool.drain.Departure;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Pods made with other settings than the template of their set has now. Another image is no other setting: it changes in the
 * running pod.
 */
public final class Outdated {
    /** Those that end already, too. */
    private final List<ObservedPod> withLeaving;

    private final List<ObservedPod> outdated;

    private Outdated(List<ObservedPod> withLeaving) {
        this.withLeaving = withLeaving;
        this.outdated = withLeaving.stream().filter(pod -> !pod.leaving()).toList();
    }

    public static Outdated of(List<ObservedPod> pods, Optional<StatefulSet> set) {
        return withTemplate(pods, set.map(it -> it.getSpec().getTemplate()));
    }

    public static Outdated withTemplate(List<ObservedPod> pods, Optional<PodTemplateSpec> template) {
        Optional<String> settings = template.map(PodTemplateSpec::getMetadata)
                .map(metadata -> metadata.getAnnotations())
                .map(annotations -> annotations.get(PoolLabels.SETTINGS));
        return new Outdated(
                settings.isEmpty()
                        ? List.of()
                        : pods.stream()
                                .filter(pod -> !pod.settings().equals(settings.get()))
                                .toList());
    }

    public List<ObservedPod> all() {
        return outdated;
    }

    /** Those that hold something. */
    List<ObservedPod> running() {
        return outdated.stream().filter(ObservedPod::started).toList();
    }

    /** Storage nodes that are to be emptied and made anew, as long as their pods are there. */
    List<Departure> departures() {
        return withLeaving.stream()
                .filter(ObservedPod::started)
                .map(pod -> Departure.outdated(pod.nodeId(), !pod.leaving()))
                .toList();
    }

    /**
     * Those that never ran, and those that ran and hold nothing any more.
     *
     * @param released ids of storage nodes that have been emptied
     */
    List<ObservedPod> emptied(Set<String> released) {
        return outdated.stream()
                .filter(pod -> !pod.started() || released.contains(pod.nodeId()))
                .toList();
    }

    /** Those that hold nothing. */
    List<ObservedPod> neverRan() {
        return outdated.stream().filter(pod -> !pod.started()).toList();
    }
}
