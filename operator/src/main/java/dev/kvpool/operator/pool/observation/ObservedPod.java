// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.identity.text.Quoted;
import dev.kvpool.operator.pool.naming.OwnContainer;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.security.PoolSecurity;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateRunning;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What the operator wants to know of a pod.
 *
 * @param name its name
 * @param uid its UID
 * @param role master or storage
 * @param set its storage set; empty for a master
 * @param ip its address; empty while it has none
 * @param started false while its container has never run, so that its memory is empty
 * @param ready as the kubelet says
 * @param leaderLabel true when it is labelled as the leader
 * @param evictable true when it is labelled as one that may be evicted
 * @param goneBy when Kubernetes has promised that it is gone, its grace included; empty while nobody has deleted it
 * @param node name of the Kubernetes node it is on; empty while it is on none
 * @param perNode true for a storage pod of a perNode set
 * @param settings digest of the settings it was made with; empty for pods that carry none
 * @param asked digest of what the user asked for when it was made; empty for pods that carry none
 * @param trouble why it is not ready, as the end of a sentence; empty when nothing is known
 * @param image the image its container was asked to run; admission may have written another reference for it
 * @param specImage that other reference, or the same; empty for a pod without such a container
 * @param restarts how often its container was restarted
 * @param ended how its container ended; empty while it runs or waits
 * @param runningSince since when its container runs, to the second; empty while it does not
 * @param running id of the image its container runs or ran last, as a name may have been given to another image; empty while none has run
 * @param pullSecrets Secrets with which its images are pulled
 * @param security whether it speaks TLS, as it was made
 * @param authority fingerprint of the certificate authority whose key it mounts, as it was made; empty where it has none
 * @param devices what its init container found of NPUs; empty where it has none, or that has not ended
 * @param ofDirectory true for a master whose certificates others make, as it was made
 * @param trustDomain of certificates that name ServiceAccounts, for a master that was made to know them; empty else
 * @param notBegun true while it is on a node and none of its containers has run, nor has said why not: volumes, a network or images are waited for
 * @param serviceAccount name of its ServiceAccount; empty when nothing is known
 * @param sickDevices devices of its own container that the kubelet says are not well, as "ID of RESOURCE"
 */
public record ObservedPod(
        String name,
        String uid,
        String role,
        String set,
        String ip,
        boolean started,
        boolean ready,
        boolean leaderLabel,
        boolean evictable,
        Optional<Instant> goneBy,
        String node,
        boolean perNode,
        String settings,
        String asked,
        String trouble,
        String image,
        String specImage,
        int restarts,
        Optional<Ended> ended,
        Optional<Instant> runningSince,
        String running,
        List<String> pullSecrets,
        SecurityMode security,
        String authority,
        Optional<DeviceCheck> devices,
        boolean ofDirectory,
        String trustDomain,
        boolean notBegun,
        String serviceAccount,
        List<String> sickDevices) {

    /** How the trouble of a pod begins for which there is no node. */
    private static final String NO_NODE = "cannot be scheduled: ";

    /** What kubelets say of a container that ended and is to be started again, in turns with saying that it runs and that it ended. */
    private static final String BETWEEN_STARTS = "CrashLoopBackOff";

    /** What kubelets say of containers while volumes are not mounted: the second where there are init containers. */
    private static final Set<String> BEFORE_THE_FIRST = Set.of("ContainerCreating", "PodInitializing");

    public ObservedPod {
        pullSecrets = List.copyOf(pullSecrets);
        sickDevices = List.copyOf(sickDevices);
    }

    /**
     * How its container ended.
     *
     * @param code exit code
     * @param message what it left as its termination message
     */
    public record Ended(int code, String message) {}

    public static ObservedPod of(Pod pod) {
        Map<String, String> labels =
                Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.<String, String>of());
        PodStatus status = Objects.requireNonNullElseGet(pod.getStatus(), PodStatus::new);
        String name = OwnContainer.name(labels.getOrDefault(PoolLabels.ROLE, ""));
        Optional<ContainerStatus> own = status.getContainerStatuses().stream()
                .filter(container -> name.equals(container.getName()))
                .findFirst();
        return new ObservedPod(
                pod.getMetadata().getName(),
                pod.getMetadata().getUid(),
                labels.getOrDefault(PoolLabels.ROLE, ""),
                labels.getOrDefault(PoolLabels.SET, ""),
                Objects.requireNonNullElse(status.getPodIP(), ""),
                own.filter(ObservedPod::hasRun).isPresent(),
                pod.getMetadata().getDeletionTimestamp() == null && conditionIs(status, "Ready", "True"),
                "true".equals(labels.get(PoolLabels.LEADER)),
                "true".equals(labels.get(PoolLabels.EVICTABLE)),
                Optional.ofNullable(pod.getMetadata().getDeletionTimestamp()).map(Instant::parse),
                nodeName(pod),
                isOfDaemonSet(pod),
                annotation(pod, PoolLabels.SETTINGS),
                annotation(pod, PoolLabels.ASKED),
                trouble(pod, status),
                OwnContainer.wishedImage(pod.getMetadata(), pod.getSpec()),
                OwnContainer.specImage(pod.getMetadata(), pod.getSpec()),
                own.map(ContainerStatus::getRestartCount).orElse(0),
                own.flatMap(ObservedPod::ended),
                own.flatMap(ObservedPod::runningSince),
                own.map(ContainerStatus::getImageID).orElse(""),
                pullSecrets(pod),
                security(pod),
                annotation(pod, PoolLabels.AUTHORITY),
                DeviceCheck.of(status),
                PoolLabels.OF_DIRECTORY.equals(annotation(pod, PoolLabels.CERTIFICATES)),
                annotation(pod, PoolLabels.TRUST_DOMAIN),
                notBegun(pod, status),
                pod.getSpec() == null
                        ? ""
                        : Objects.requireNonNullElse(pod.getSpec().getServiceAccountName(), ""),
                own.map(ObservedPod::sickDevices).orElse(List.of()));
    }

    /** True when it is being deleted. */
    public boolean leaving() {
        return goneBy.isPresent();
    }

    /** True when Kubernetes has found no node for it. */
    public boolean isWithoutNode() {
        return node.isEmpty() && trouble.startsWith(NO_NODE);
    }

    /** Id of the storage node in it. */
    public String nodeId() {
        return perNode ? PoolNames.perNodeId(set, node) : name;
    }

    /** The number at the end of the name. */
    public int ordinal() {
        return Integer.parseInt(name.substring(name.lastIndexOf('-') + 1));
    }

    private static String annotation(Pod pod, String name) {
        return Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.<String, String>of())
                .getOrDefault(name, "");
    }

    private static String nodeName(Pod pod) {
        return pod.getSpec() == null
                ? ""
                : Objects.requireNonNullElse(pod.getSpec().getNodeName(), "");
    }

    private static List<String> pullSecrets(Pod pod) {
        return pod.getSpec() == null
                ? List.of()
                : pod.getSpec().getImagePullSecrets().stream()
                        .map(LocalObjectReference::getName)
                        .toList();
    }

    private static SecurityMode security(Pod pod) {
        String word = annotation(pod, PoolLabels.TLS);
        return Stream.of(SecurityMode.values())
                .filter(mode -> PoolSecurity.word(mode).equals(word))
                .findFirst()
                .orElse(SecurityMode.OFF);
    }

    private static Optional<Ended> ended(ContainerStatus container) {
        return Optional.ofNullable(container.getState())
                .map(ContainerState::getTerminated)
                .map(ended -> new Ended(
                        Objects.requireNonNullElse(ended.getExitCode(), -1),
                        Objects.requireNonNullElse(ended.getMessage(), "")));
    }

    private static Optional<Instant> runningSince(ContainerStatus container) {
        return Optional.ofNullable(container.getState())
                .map(ContainerState::getRunning)
                .map(ContainerStateRunning::getStartedAt)
                .map(Instant::parse);
    }

    /** As their device plugin told the kubelet, which hands it on in clusters with feature gate ResourceHealthStatus. */
    private static List<String> sickDevices(ContainerStatus container) {
        return container.getAllocatedResourcesStatus().stream()
                .flatMap(resource -> resource.getResources().stream()
                        .filter(device -> "Unhealthy".equals(device.getHealth()))
                        .map(device -> device.getResourceID() + " of " + resource.getName()))
                .sorted()
                .toList();
    }

    private static boolean isOfDaemonSet(Pod pod) {
        return pod.getMetadata().getOwnerReferences().stream().anyMatch(owner -> "DaemonSet".equals(owner.getKind()));
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

    private static boolean notBegun(Pod pod, PodStatus status) {
        List<ContainerStatus> all = Stream.concat(
                        status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
                .toList();
        return pod.getMetadata().getDeletionTimestamp() == null
                && !nodeName(pod).isEmpty()
                && !all.isEmpty()
                && all.stream().allMatch(ObservedPod::hasNotBegun);
    }

    /** Whether the kubelet says of a container no more than that it is to be made. */
    public static boolean hasNotBegun(ContainerStatus container) {
        return !hasRun(container)
                && container.getState() != null
                && container.getState().getWaiting() != null
                && BEFORE_THE_FIRST.contains(Objects.requireNonNullElse(
                        container.getState().getWaiting().getReason(), ""));
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
        Optional<Instant> since = runningSince(container);
        boolean wasReady = Boolean.TRUE.equals(container.getReady())
                || condition(status, "Ready")
                        .map(PodCondition::getLastTransitionTime)
                        .filter(time ->
                                since.filter(Instant.parse(time)::isAfter).isPresent())
                        .isPresent();
        return wasReady ? "" : words(ended(container).isPresent() ? container.getState() : container.getLastState());
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
