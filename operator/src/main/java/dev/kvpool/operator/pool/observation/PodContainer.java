// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.operator.pool.naming.OwnContainer;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.ResourceStatus;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The container of a pod in which its master, storage node or agent runs.
 *
 * @param started false while it has never run
 * @param image the image it was asked to run; admission may have written another reference for it
 * @param specImage that other reference, or the same; empty for a pod without such a container
 * @param restarts how often it was restarted
 * @param ended how it ended; empty while it runs or waits
 * @param runningSince since when it runs, to the second; empty while it does not
 * @param running id of the image it runs or ran last, as a name may have been given to another image; empty while none has run
 * @param sickDevices devices of it that the kubelet says are not well, as "ID of RESOURCE"
 * @param healthTold resources of which the kubelet says of each device of it whether it is well
 */
public record PodContainer(
        boolean started,
        String image,
        String specImage,
        int restarts,
        Optional<Ended> ended,
        Optional<Instant> runningSince,
        String running,
        List<String> sickDevices,
        Set<String> healthTold) {

    private static final String HEALTHY = "Healthy";
    private static final String UNHEALTHY = "Unhealthy";

    /** What kubelets say of containers while volumes are not mounted: the second where there are init containers. */
    private static final Set<String> BEFORE_THE_FIRST = Set.of("ContainerCreating", "PodInitializing");

    /**
     * How it ended.
     *
     * @param code exit code
     * @param message what it left as its termination message
     */
    public record Ended(int code, String message) {}

    public PodContainer {
        sickDevices = List.copyOf(sickDevices);
        healthTold = Set.copyOf(healthTold);
    }

    static PodContainer of(Pod pod, String role) {
        String name = OwnContainer.name(role);
        Optional<ContainerStatus> own =
                Objects.requireNonNullElseGet(pod.getStatus(), PodStatus::new).getContainerStatuses().stream()
                        .filter(container -> name.equals(container.getName()))
                        .findFirst();
        return new PodContainer(
                own.filter(PodContainer::hasRun).isPresent(),
                OwnContainer.wishedImage(pod.getMetadata(), pod.getSpec()),
                OwnContainer.specImage(pod.getMetadata(), pod.getSpec()),
                own.map(ContainerStatus::getRestartCount).orElse(0),
                own.flatMap(PodContainer::ended),
                own.flatMap(PodContainer::runningSince),
                own.map(ContainerStatus::getImageID).orElse(""),
                own.map(PodContainer::sickDevices).orElse(List.of()),
                own.map(PodContainer::healthTold).orElse(Set.of()));
    }

    /** As their device plugin told the kubelet, which hands it on in clusters with feature gate ResourceHealthStatus. */
    private static List<String> sickDevices(ContainerStatus container) {
        return container.getAllocatedResourcesStatus().stream()
                .flatMap(resource -> resource.getResources().stream()
                        .filter(device -> UNHEALTHY.equals(device.getHealth()))
                        .map(device -> device.getResourceID() + " of " + resource.getName()))
                .sorted()
                .toList();
    }

    /** Of a device whose plugin says nothing, or is away, the kubelet says that its health is unknown. */
    private static Set<String> healthTold(ContainerStatus container) {
        return container.getAllocatedResourcesStatus().stream()
                .filter(resource -> !resource.getResources().isEmpty()
                        && resource.getResources().stream()
                                .allMatch(device ->
                                        HEALTHY.equals(device.getHealth()) || UNHEALTHY.equals(device.getHealth())))
                .map(ResourceStatus::getName)
                .collect(Collectors.toSet());
    }

    static Optional<Ended> ended(ContainerStatus container) {
        return Optional.ofNullable(container.getState())
                .map(ContainerState::getTerminated)
                .map(ended -> new Ended(
                        Objects.requireNonNullElse(ended.getExitCode(), -1),
                        Objects.requireNonNullElse(ended.getMessage(), "")));
    }

    static Optional<Instant> runningSince(ContainerStatus container) {
        return Optional.ofNullable(container.getState())
                .map(ContainerState::getRunning)
                .map(ContainerStateRunning::getStartedAt)
                .map(Instant::parse);
    }

    /**
     * A container that is to be restarted with another image counts no restart before it is: while that image cannot be pulled it
     * waits like one that never ran, and only its last state says that it did.
     */
    private static boolean hasRun(ContainerStatus container) {
        if (container.getRestartCount() != null && container.getRestartCount() > 0) {
            return true;
        }
        var state = container.getState();
        var last = container.getLastState();
        return (state != null && (state.getRunning() != null || state.getTerminated() != null))
                || (last != null && last.getTerminated() != null);
    }

    /** Whether the kubelet says of a container no more than that it is to be made. */
    public static boolean hasNotBegun(ContainerStatus container) {
        return !hasRun(container)
                && container.getState() != null
                && container.getState().getWaiting() != null
                && BEFORE_THE_FIRST.contains(Objects.requireNonNullElse(
                        container.getState().getWaiting().getReason(), ""));
    }
}
