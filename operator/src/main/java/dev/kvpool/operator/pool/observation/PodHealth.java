// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.identity.text.Quoted;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * How a pod is.
 *
 * @param ready as the kubelet says
 * @param trouble why it is not ready, as the end of a sentence; empty when nothing is known
 * @param notBegun true while it is on a node and none of its containers has run, nor has said why not: volumes, a network or images are waited for
 * @param goneBy when Kubernetes has promised that it is gone, its grace included; empty while it is not deleted
 */
public record PodHealth(boolean ready, String trouble, boolean notBegun, Optional<Instant> goneBy) {
    /** How the trouble of a pod begins for which there is no node. */
    private static final String NO_NODE = "cannot be scheduled: ";

    /** What kubelets say of a container that ended and is to be started again, in turns with saying that it runs and that it ended. */
    private static final String BETWEEN_STARTS = "CrashLoopBackOff";

    static PodHealth of(Pod pod, PodStatus status) {
        return new PodHealth(
                pod.getMetadata().getDeletionTimestamp() == null && conditionIs(status, "Ready", "True"),
                trouble(pod, status),
                notBegun(pod, status),
                Optional.ofNullable(pod.getMetadata().getDeletionTimestamp()).map(Instant::parse));
    }

    /** True when Kubernetes has found no node for it. */
    boolean isUnschedulable() {
        return trouble.startsWith(NO_NODE);
    }

    private static boolean notBegun(Pod pod, PodStatus status) {
        List<ContainerStatus> all = Stream.concat(
                        status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
                .toList();
        return pod.getMetadata().getDeletionTimestamp() == null
                && !ObservedPod.nodeName(pod).isEmpty()
                && !all.isEmpty()
                && all.stream().allMatch(PodContainer::hasNotBegun);
    }

    private static boolean conditionIs(PodStatus status, String type, String value) {
        return condition(status, type).filter(c -> value.equals(c.getStatus())).isPresent();
    }

    private static Optional<PodCondition> condition(PodStatus status, String type) {
        return status.getConditions().stream()
                .filter(c -> type.equals(c.getType()))
                .findFirst();
    }

    /**
     * The last line of what a container left when it ended; empty once it has been ready since, which only the time tells where it is
     * not ready any more.
     */
    private static String lastWords(PodStatus status, ContainerStatus container) {
        Optional<Instant> since = PodContainer.runningSince(container);
        boolean wasReady = Boolean.TRUE.equals(container.getReady())
                || condition(status, "Ready")
                        .map(PodCondition::getLastTransitionTime)
                        .filter(time ->
                                since.filter(Instant.parse(time)::isAfter).isPresent())
                        .isPresent();
        return wasReady
                ? ""
                : words(PodContainer.ended(container).isPresent() ? container.getState() : container.getLastState());
    }

    private static String words(ContainerState state) {
        return Optional.ofNullable(state)
                .map(ContainerState::getTerminated)
                .map(ContainerStateTerminated::getMessage)
                .flatMap(message -> message.lines()
                        .map(String::strip)
                        .filter(line -> !line.isEmpty())
                        .reduce((one, next) -> next))
                .map(Quoted::cut)
                .orElse("");
    }

    private static String trouble(Pod pod, PodStatus status) {
        if (pod.getMetadata().getDeletionTimestamp() != null) {
            return "is being deleted";
        }
        Optional<PodCondition> scheduled = condition(status, "PodScheduled").filter(c -> "False".equals(c.getStatus()));
        if (scheduled.isPresent()) {
            return NO_NODE + scheduled.get().getMessage();
        }
        List<ContainerStatus> containers = status.getContainerStatuses();
        for (ContainerStatus container : containers) {
            var waiting =
                    container.getState() == null ? null : container.getState().getWaiting();
            String said = lastWords(status, container);
            if (waiting != null
                    && waiting.getReason() != null
                    && (said.isEmpty() || !waiting.getReason().equals(BETWEEN_STARTS))) {
                return "waits: " + waiting.getReason()
                        + (waiting.getMessage() == null ? "" : ": " + waiting.getMessage())
                        + (said.isEmpty() ? "" : ", after it said: " + said);
            }
            if (!said.isEmpty()) {
                return "has not been ready since it said: " + said;
            }
        }
        return "";
    }
}
