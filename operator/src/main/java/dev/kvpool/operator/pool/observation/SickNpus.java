// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.operator.pool.naming.NameList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/**
 * NPUs of a Kubernetes node that Ascend's device plugin says are not well, in the ConfigMap that it keeps for the node.
 *
 * @param words what is wrong with each, by its physical number
 */
public record SickNpus(NavigableMap<Integer, String> words) {
    public static final SickNpus NONE = new SickNpus(new TreeMap<>());

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Faults after which an NPU moves no bytes until it is reset or replaced; what is less the plugin, or CANN, copes with. */
    private static final Set<String> GRAVE = Set.of("RestartNPU", "PreSeparateNPU", "SeparateNPU");

    public SickNpus {
        words = new TreeMap<>(words);
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Config(@JsonProperty("DeviceInfo") Info info) {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Info(@JsonProperty("DeviceList") Map<String, String> devices) {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Fault(
            @JsonProperty("npu_name") String npu,
            @JsonProperty("fault_level") String level) {}

    /**
     * Reads them. What cannot be read says nothing of any NPU.
     *
     * @param data of the ConfigMap; null where it has none
     */
    public static SickNpus of(Map<String, String> data) {
        NavigableMap<Integer, String> words = new TreeMap<>();
        Map<String, String> all = Objects.requireNonNullElse(data, Map.of());
        Map<String, String> lists = devices(all.get("DeviceInfoCfg"));
        ofSuffix(lists, "-Unhealthy").forEach(npus -> note(words, npus, "unhealthy"));
        ofSuffix(lists, "-NetworkUnhealthy").forEach(npus -> note(words, npus, "without network"));
        ofSuffix(lists, "-Fault")
                .forEach(faults -> faults(faults).stream()
                        .filter(fault -> fault.npu() != null && fault.level() != null && GRAVE.contains(fault.level()))
                        .forEach(fault -> note(words, fault.npu(), "at fault level " + fault.level())));
        note(words, all.getOrDefault("ManuallySeparateNPU", ""), "separated by hand");
        return new SickNpus(words);
    }

    private static Map<String, String> devices(String config) {
        try {
            Config read = config == null ? null : JSON.readValue(config, Config.class);
            return read == null || read.info() == null || read.info().devices() == null
                    ? Map.of()
                    : read.info().devices();
        } catch (JacksonException e) {
            return Map.of();
        }
    }

    private static List<Fault> faults(String text) {
        try {
            List<Fault> faults = JSON.readValue(text, new TypeReference<List<Fault>>() {});
            return faults == null
                    ? List.of()
                    : faults.stream().filter(Objects::nonNull).toList();
        } catch (JacksonException e) {
            return List.of();
        }
    }

    private static List<String> ofSuffix(Map<String, String> lists, String suffix) {
        return lists.entrySet().stream()
                .filter(list -> list.getKey().endsWith(suffix) && list.getValue() != null)
                .map(Map.Entry::getValue)
                .toList();
    }

    private static void note(Map<Integer, String> words, String npus, String what) {
        for (String npu : npus.split(",", -1)) {
            number(npu.strip()).ifPresent(number -> words.putIfAbsent(number, what));
        }
    }

    /** "Ascend910-3", "npu-3". */
    private static OptionalInt number(String npu) {
        try {
            int number = Integer.parseInt(npu.substring(npu.lastIndexOf('-') + 1));
            return npu.indexOf('-') > 0 && number >= 0 ? OptionalInt.of(number) : OptionalInt.empty();
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /** Those among these, as "NPU 3, which is unhealthy"; empty where all of them are well. */
    public Optional<String> among(List<Integer> npus) {
        List<String> sick = npus.stream()
                .filter(words::containsKey)
                .sorted()
                .map(npu -> "NPU %d, which is %s".formatted(npu, words.get(npu)))
                .toList();
        return sick.isEmpty() ? Optional.empty() : Optional.of(NameList.of(sick));
    }
}
