// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.operator.pool.ascend.DeviceNeeds;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What the init container of a storage pod found of NPUs, CANN and driver before the storage node started.
 *
 * @param reason why protocol ascend does not work there, as condition AscendRuntimeReady names it; empty when it does
 * @param blocking whether the storage node does not start
 * @param npus physical numbers of the pod's NPUs
 * @param missing what is missing and how to fix it, as sentences; empty where the reason is
 * @param warnings what may be missing, likewise
 */
public record DeviceCheck(String reason, boolean blocking, List<Integer> npus, String missing, String warnings) {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Set<String> REASONS =
            Set.of("", "CannLibraryNotFound", "SymbolMissing", "NoDevice", "DriverTooOld");

    public DeviceCheck {
        npus = List.copyOf(npus);
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Document(String reason, boolean blocking, List<Integer> npus, List<Line> findings) {
        boolean isWhole() {
            return reason != null
                    && REASONS.contains(reason)
                    && isWhole(npus)
                    && isWhole(findings)
                    && findings.stream().allMatch(line -> line.text() != null && line.remedy() != null);
        }

        private static boolean isWhole(List<?> list) {
            return list != null && list.stream().noneMatch(Objects::isNull);
        }
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    private record Line(String level, String text, String remedy) {}

    /** Empty where it has not ended yet, is not there, or left something else. */
    public static Optional<DeviceCheck> of(PodStatus status) {
        return status.getInitContainerStatuses().stream()
                .filter(container -> DeviceNeeds.CONTAINER.equals(container.getName()))
                .findFirst()
                .flatMap(DeviceCheck::message)
                .flatMap(DeviceCheck::read);
    }

    /** Where it failed, the kubelet starts it again, and its last state has what it left. */
    private static Optional<String> message(ContainerStatus container) {
        return Stream.of(container.getState(), container.getLastState())
                .filter(Objects::nonNull)
                .map(ContainerState::getTerminated)
                .filter(Objects::nonNull)
                .map(ContainerStateTerminated::getMessage)
                .filter(Objects::nonNull)
                .findFirst();
    }

    private static Optional<DeviceCheck> read(String message) {
        try {
            Document document = JSON.readValue(message, Document.class);
            return Optional.ofNullable(document).filter(Document::isWhole).map(DeviceCheck::of);
        } catch (JacksonException e) {
            return Optional.empty();
        }
    }

    private static DeviceCheck of(Document document) {
        return new DeviceCheck(
                document.reason(),
                document.blocking(),
                document.npus(),
                sentences(document, "missing"),
                sentences(document, "warning"));
    }

    private static String sentences(Document document, String level) {
        return document.findings().stream()
                .filter(line -> level.equals(line.level()))
                .map(line -> line.remedy().isEmpty() ? line.text() + "." : line.text() + ". " + line.remedy() + ".")
                .collect(Collectors.joining(" "));
    }
}
