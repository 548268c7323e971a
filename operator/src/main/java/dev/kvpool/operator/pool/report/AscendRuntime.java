// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.ascend.DeviceNeeds;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.DeviceCheck;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.SickNpus;
import dev.kvpool.operator.pool.sizing.PoolEngines;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Whether the storage pods that open NPUs found what they need for that, as they looked for it when they started. */
final class AscendRuntime {
    /** In this order one is named where pods have several: what is missing first on the way to a device. */
    private static final List<Reason> MISSING =
            List.of(Reason.CANN_LIBRARY_NOT_FOUND, Reason.SYMBOL_MISSING, Reason.DRIVER_TOO_OLD, Reason.NO_DEVICE);

    private final PoolObservation seen;
    private final Set<String> sets;
    private final List<ObservedPod> pods;

    private AscendRuntime(PoolObservation seen, Set<String> sets, List<ObservedPod> pods) {
        this.seen = seen;
        this.sets = sets;
        this.pods = pods;
    }

    /** Empty for a pool whose storage nodes open no NPUs. */
    static Optional<Finding> of(PoolObservation seen) {
        PoolEngines engines = seen.engineSpecs();
        Set<String> sets = seen.spec().storage().stream()
                .filter(set -> DeviceNeeds.areOf(engines.of(set)))
                .map(StorageSetSpec::name)
                .collect(Collectors.toSet());
        List<ObservedPod> pods = seen.pods(PoolLabels.ROLE_STORAGE).stream()
                .filter(pod -> sets.contains(pod.set()) && !pod.leaving())
                .sorted(Comparator.comparing(ObservedPod::name))
                .toList();
        return sets.isEmpty() ? Optional.empty() : Optional.of(new AscendRuntime(seen, sets, pods).finding());
    }

    private Finding finding() {
        for (Reason reason : MISSING) {
            List<ObservedPod> without = pods.stream()
                    .filter(pod -> pod.devices()
                            .filter(check -> check.reason().equals(reason.text()))
                            .isPresent())
                    .toList();
            if (!without.isEmpty()) {
                return new Finding(reason, sentences(without, DeviceCheck::missing) + meanwhile(without));
            }
        }
        List<String> sick = pods.stream()
                .flatMap(pod -> seen.sickNpus(pod).stream()
                        .map(npus -> "set %s, %s on node %s has %s".formatted(pod.set(), pod.name(), pod.node(), npus)))
                .toList();
        if (!sick.isEmpty()) {
            return new Finding(
                    Reason.DEVICE_UNHEALTHY,
                    ("Of %s. What is there is moved to other storage nodes, and it takes part again when the NPU is well. A pod that is"
                                    + " empty can be deleted, to come back with another NPU.")
                            .formatted(NameList.of(sick)));
        }
        List<ObservedPod> unchecked =
                pods.stream().filter(pod -> pod.devices().isEmpty()).toList();
        if (pods.isEmpty() || !unchecked.isEmpty()) {
            return new Finding(
                    Reason.DEVICES_NOT_CHECKED,
                    pods.isEmpty()
                            ? "No storage pod of %s is there that could look for its NPUs.".formatted(sets())
                            : "%s: not looked for NPUs yet.%s"
                                    .formatted(NameList.of(names(unchecked)), PodTroubles.sentences(unchecked)));
        }
        String warnings = Stream.of(
                        sentences(
                                pods.stream()
                                        .filter(pod -> !pod.devices()
                                                .orElseThrow()
                                                .warnings()
                                                .isEmpty())
                                        .toList(),
                                DeviceCheck::warnings),
                        withheld())
                .filter(words -> !words.isEmpty())
                .collect(Collectors.joining(" "));
        return new Finding(
                Reason.RUNTIME_FOUND,
                "All storage pods of %s found CANN and their NPUs when they started.%s"
                        .formatted(sets(), warnings.isEmpty() ? "" : " But: " + warnings));
    }

    /**
     * NPUs that a kubelet gives to no pod, where nothing says which they are: one of them may be a storage pod's. What does say so is
     * the device plugin's ConfigMap, and the status of pods.
     */
    private String withheld() {
        PoolEngines engines = seen.engineSpecs();
        Map<String, String> resources = seen.spec().storage().stream()
                .filter(set -> sets.contains(set.name()))
                .collect(Collectors.toMap(
                        StorageSetSpec::name,
                        set -> engines.of(set).accelerator().resource()));
        return seen.nodes().stream()
                .filter(node -> node.npus().equals(SickNpus.NONE))
                .flatMap(node -> pods.stream()
                        .filter(pod -> pod.node().equals(node.name()))
                        .filter(pod -> !pod.container().healthTold().contains(resources.get(pod.set())))
                        .map(pod -> resources.get(pod.set()))
                        .distinct()
                        .filter(node.withheld()::containsKey)
                        .map(resource ->
                                ("The kubelet of node %s gives %d of %s to no pod, as unhealthy, and which they are is not known"
                                                + " here: a storage pod there may have one. Look at them with npu-smi info.")
                                        .formatted(node.name(), node.withheld().get(resource), resource)))
                .collect(Collectors.joining(" "));
    }

    private String sets() {
        return "set " + NameList.of(sets.stream().sorted().toList());
    }

    private static List<String> names(List<ObservedPod> pods) {
        return pods.stream().map(ObservedPod::name).toList();
    }

    /** One for each set and text: mostly all pods of a set lack the same. */
    private static String sentences(List<ObservedPod> pods, Function<DeviceCheck, String> said) {
        Map<List<String>, List<ObservedPod>> alike = new TreeMap<>(
                Comparator.comparing((List<String> key) -> key.getFirst()).thenComparing(List::getLast));
        pods.forEach(pod -> alike.computeIfAbsent(
                        List.of(pod.set(), said.apply(pod.devices().orElseThrow())), key -> new ArrayList<>())
                .add(pod));
        return alike.entrySet().stream()
                .map(entry -> "Set %s, %s: %s"
                        .formatted(
                                entry.getKey().getFirst(),
                                NameList.of(entry.getValue().stream()
                                        .map(pod -> pod.name() + " on node " + pod.node())
                                        .toList()),
                                entry.getKey().getLast()))
                .collect(Collectors.joining(" "));
    }

    private static String meanwhile(List<ObservedPod> without) {
        return without.stream().anyMatch(pod -> pod.devices().orElseThrow().blocking())
                ? " They do not start before that."
                : " They move bytes by their other protocols. Pods that are created again look again.";
    }
}
