// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.identity.text.Quoted;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the operator wants to know of a pod.
 *
 * @param name its name
 * @param uid its UID
 * @param role master or storage
 * @param set its storage set; empty for a master
 * @param perNode true for a storage pod of a perNode set
 * @param node name of the Kubernetes node it is on; empty while it is on none
 * @param ip its address; empty while it has none
 * @param ready as the kubelet says
 * @param trouble why it is not ready, as the end of a sentence; empty when nothing is known
 * @param notBegun true while it is on a node and none of its containers has run, nor has said why not: volumes, a network or images are waited for
 * @param goneBy when Kubernetes has promised that it is gone, its grace included; empty while it is not deleted
 * @param leaderLabel true when it is labelled as the leader
 * @param evictable true when it is labelled as one that may be evicted
 * @param serviceAccount name of its ServiceAccount; empty when nothing is known
 * @param devices what its init container found of NPUs; empty where it has none, or that has not ended
 * @param container its own container, beside which admission may have put others
 * @param made with what it was made
 */
public record ObservedPod(
        String name,
        String uid,
        String role,
        String set,
        boolean perNode,
        String node,
        String ip,
        boolean ready,
        String trouble,
        boolean notBegun,
        Optional<Instant> goneBy,
        boolean leaderLabel,
        boolean evictable,
        String serviceAccount,
        Optional<DeviceCheck> devices,
        PodContainer container,
        PodOrigin made) {

    /** How the trouble of a pod begins for which there is no node. */
    private static final String NO_NODE = "cannot be scheduled: ";

    /** What kubelets say of a container that ended and is to be started again, in turns with saying that it runs and that it ended. */
    private static final String BETWEEN_STARTS = "CrashLoopBackOff";

    public static ObservedPod of(Pod pod) {
        Map<String, String> labels =
                Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.<String, String>of());
        PodStatus status = Objects.requireNonNullElseGet(pod.getStatus(), PodStatus::new);
        return new ObservedPod(
                pod.getMetadata().getName(),
                pod.getMetadata().getUid(),
                labels.getOrDefault(PoolLabels.ROLE, ""),
                labels.getOrDefault(PoolLabels.SET, ""),
                isOfDaemonSet(pod),
                nodeName(pod),
                Objects.requireNonNullElse(status.getPodIP(), ""),
                pod.getMetadata().getDeletionTimestamp() == null && conditionIs(status, "Ready", "True"),
                trouble(pod, status),
                notBegun(pod, status),
                Optional.ofNullable(pod.getMetadata().getDeletionTimestamp()).map(Instant::parse),
                "true".equals(labels.get(PoolLabels.LEADER)),
                "true".equals(labels.get(PoolLabels.EVICTABLE)),
                pod.getSpec() == null
                        ? ""
                        : Objects.requireNonNullElse(pod.getSpec().getServiceAccountName(), ""),
                DeviceCheck.of(status),
                PodContainer.of(pod, labels.getOrDefault(PoolLabels.ROLE, "")),
                PodOrigin.of(pod));
    }

    /** False while its container has never run, so that its memory is empty. */
    public boolean started() {
        return container.started();
    }

    /** The image its container was asked to run; admission may have written another reference for it. */
    public String image() {
        return container.image();
    }

    /** That other reference, or the same. */
    public String specImage() {
        return container.specImage();
    }

    /** How often its container was restarted. */
    public int restarts() {
        return container.restarts();
    }

    /** How its container ended; empty while it runs or waits. */
    public Optional<PodContainer.Ended> ended() {
        return container.ended();
    }

    /** Since when its container runs; empty while it does not. */
    public Optional<Instant> runningSince() {
        return container.runningSince();
    }

    /** Id of the image that its container runs, or ran last. */
    public String running() {
        return container.running();
    }

    /** Devices of its container that the kubelet says are not well, as "ID of RESOURCE". */
    public List<String> sickDevices() {
        return container.sickDevices();
    }

    /** Digest of the settings it was made with; empty for pods that carry none. */
    public String settings() {
        return made.settings();
    }

    /** Digest of what the user asked for when it was made; empty for pods that carry none. */
    public String asked() {
        return made.asked();
    }

    /** Secrets with which its images are pulled. */
    public List<String> pullSecrets() {
        return made.pullSecrets();
    }

    /** Whether it speaks TLS. */
    public SecurityMode security() {
        return made.security();
    }

    /** Fingerprint of the certificate authority whose key it mounts; empty where it has none. */
    public String authority() {
        return made.authority();
    }

    /** True for a master whose certificates others make. */
    public boolean ofDirectory() {
        return made.ofDirectory();
    }

    /** Of certificates that name ServiceAccounts, for a master that was made to know them; empty else. */
    public String trustDomain() {
        return made.trustDomain();
    }

    /** Names, as a part of a sentence. */
    public static String names(List<ObservedPod> pods) {
        return NameList.of(pods.stream().map(ObservedPod::name).sorted().toList());
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

    private static String nodeName(Pod pod) {
        return pod.getSpec() == null
                ? ""
                : Objects.requireNonNullElse(pod.getSpec().getNodeName(), "");
    }

    private static boolean isOfDaemonSet(Pod pod) {
        return pod.getMetadata().getOwnerReferences().stream().anyMatch(owner -> "DaemonSet".equals(owner.getKind()));
    }

    private static boolean notBegun(Pod pod, PodStatus status) {
        List<ContainerStatus> all = Stream.concat(
                        status.getInitContainerStatuses().stream(), status.getContainerStatuses().stream())
                .toList();
        return pod.getMetadata().getDeletionTimestamp() == null
                && !nodeName(pod).isEmpty()
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
