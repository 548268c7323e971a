// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * What the operator wants to know of a pod.
 *
 * @param identity which pod it is
 * @param node name of the Kubernetes node it is on; empty while it is on none
 * @param ip its address; empty while it has none
 * @param health how it is
 * @param leaderLabel true when it is labelled as the leader
 * @param evictable true when it is labelled as one that may be evicted
 * @param devices what its init container found of NPUs; empty where it has none, or that has not ended
 * @param container its own container, beside which admission may have put others
 * @param made with what it was made
 */
public record ObservedPod(
        PodIdentity identity,
        String node,
        String ip,
        PodHealth health,
        boolean leaderLabel,
        boolean evictable,
        Optional<DeviceCheck> devices,
        PodContainer container,
        PodOrigin made) {

    public static ObservedPod of(Pod pod) {
        Map<String, String> labels =
                Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.<String, String>of());
        PodStatus status = Objects.requireNonNullElseGet(pod.getStatus(), PodStatus::new);
        return new ObservedPod(
                PodIdentity.of(pod, labels),
                nodeName(pod),
                Objects.requireNonNullElse(status.getPodIP(), ""),
                PodHealth.of(pod, status),
                "true".equals(labels.get(PoolLabels.LEADER)),
                "true".equals(labels.get(PoolLabels.EVICTABLE)),
                DeviceCheck.of(status),
                PodContainer.of(pod, labels.getOrDefault(PoolLabels.ROLE, "")),
                PodOrigin.of(pod));
    }

    public String name() {
        return identity.name();
    }

    public String uid() {
        return identity.uid();
    }

    public String role() {
        return identity.role();
    }

    /** Its storage set; empty for a master. */
    public String set() {
        return identity.set();
    }

    /** True for a storage pod of a perNode set. */
    public boolean perNode() {
        return identity.perNode();
    }

    public boolean ready() {
        return health.ready();
    }

    /** Why it is not ready, as the end of a sentence; empty when nothing is known. */
    public String trouble() {
        return health.trouble();
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
        return health.goneBy().isPresent();
    }

    /** True when Kubernetes has found no node for it. */
    public boolean isWithoutNode() {
        return node.isEmpty() && health.isUnschedulable();
    }

    /** Id of the storage node in it. */
    public String nodeId() {
        return perNode() ? PoolNames.perNodeId(set(), node) : name();
    }

    /** The number at the end of the name. */
    public int ordinal() {
        return Integer.parseInt(name().substring(name().lastIndexOf('-') + 1));
    }

    static String nodeName(Pod pod) {
        return pod.getSpec() == null
                ? ""
                : Objects.requireNonNullElse(pod.getSpec().getNodeName(), "");
    }
}
