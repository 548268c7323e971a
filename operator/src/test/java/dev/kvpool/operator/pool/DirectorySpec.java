// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.security.PoolSecurity;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Map;

/** Pools whose certificates others make, and their pods. */
public final class DirectorySpec {
    private DirectorySpec() {}

    /** A root, as a value in double quotation marks. */
    public static String root() {
        return quoted(ActiveTrust.configMap().getData().get(PoolTrust.ROOTS));
    }

    /** PEM as a value in double quotation marks. */
    public static String quoted(String pem) {
        return '"' + pem.replace("\n", "\\n") + '"';
    }

    /** With Secrets for two masters and two storage nodes. */
    public static String secrets(String root) {
        return spec(
                root,
                "{secrets: [{name: demo-master-0, secretName: one}, {name: demo-master-1, secretName: two}]}",
                "{secrets: [{name: demo-a-0, secretName: three}, {name: demo-a-1, secretName: four}]}");
    }

    /** With a CSI driver. */
    public static String csi() {
        return spec(
                root(),
                "{csi: {driver: csi.example, volumeAttributes: {uri: \"spiffe://${POOL_ID}/master/${POD_NAME}\"}}}",
                "{csi: {driver: csi.example, volumeAttributes: {uri: \"spiffe://${POOL_ID}/node/${POD_NAME}\"}}}");
    }

    /** As of {@link #csi}, with certificates that name ServiceAccounts. */
    public static String named(String trustDomain) {
        return csi().replace("source: Directory,", "source: Directory, trustDomain: " + trustDomain + ",");
    }

    /** As of {@link #secrets}, in another order. */
    public static String secretsInAnotherOrder(String root) {
        return spec(
                root,
                "{secrets: [{name: demo-master-1, secretName: two}, {name: demo-master-0, secretName: one}]}",
                "{secrets: [{name: demo-a-1, secretName: four}, {name: demo-a-0, secretName: three}]}");
    }

    private static String spec(String root, String masters, String storage) {
        return ("{security: {certificates: {source: Directory, ca: %s, masters: %s, storage: %s}},"
                        + " storage: [{name: a, capacity: 1Gi}], transferEngine: demo}")
                .formatted(root, masters, storage);
    }

    /**
     * A pod of the pool, with certificates of others.
     *
     * @param said the last that its container said, which is to be started again; empty for one that runs
     */
    public static ObservedPod pod(String name, String role, String said) {
        return pod(name, role, Map.of(PoolLabels.CERTIFICATES, PoolLabels.OF_DIRECTORY), said);
    }

    /**
     * A pod of the pool.
     *
     * @param origin the note of where its certificate comes from
     */
    public static ObservedPod pod(String name, String role, Map<String, String> origin, String said) {
        PodBuilder pod = made(name, role, origin);
        return ObservedPod.of(
                said.isEmpty()
                        ? pod.withNewStatus()
                                .addNewCondition()
                                .withType("Ready")
                                .withStatus("True")
                                .endCondition()
                                .addNewContainerStatus()
                                .withName(role)
                                .withNewState()
                                .withNewRunning()
                                .endRunning()
                                .endState()
                                .endContainerStatus()
                                .endStatus()
                                .build()
                        : pod.withNewStatus()
                                .addNewContainerStatus()
                                .withName(role)
                                .withNewState()
                                .withNewWaiting()
                                .withReason("CrashLoopBackOff")
                                .endWaiting()
                                .endState()
                                .withNewLastState()
                                .withNewTerminated()
                                .withExitCode(1)
                                .withMessage("some line\n" + said + "\n")
                                .endTerminated()
                                .endLastState()
                                .endContainerStatus()
                                .endStatus()
                                .build());
    }

    /** A pod of the pool that its kubelet says this of, in JSON. */
    public static ObservedPod seen(String name, String role, String status) {
        return ObservedPod.of(made(name, role, Map.of())
                .withStatus(new KubernetesSerialization().unmarshal(status, PodStatus.class))
                .build());
    }

    /**
     * A pod of the pool on a node, with an init container.
     *
     * @param init what the kubelet says that this waits for; empty while it runs
     * @param own the same of the container
     */
    public static ObservedPod waiting(String name, String role, String init, String own) {
        return ObservedPod.of(made(name, role, Map.of())
                .editSpec()
                .withNodeName("worker")
                .endSpec()
                .withNewStatus()
                .withInitContainerStatuses(status("check", init))
                .withContainerStatuses(status(role, own))
                .endStatus()
                .build());
    }

    private static ContainerStatus status(String container, String waitsFor) {
        ContainerStatusBuilder status = new ContainerStatusBuilder().withName(container);
        return waitsFor.isEmpty()
                ? status.withNewState().withNewRunning().endRunning().endState().build()
                : status.withNewState()
                        .withNewWaiting()
                        .withReason(waitsFor)
                        .endWaiting()
                        .endState()
                        .build();
    }

    private static PodBuilder made(String name, String role, Map<String, String> origin) {
        return new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withUid("uid-" + name)
                .withLabels(Map.of(PoolLabels.ROLE, role))
                .withAnnotations(origin)
                .addToAnnotations(PoolLabels.TLS, PoolSecurity.word(SecurityMode.REQUIRED))
                .endMetadata()
                .withNewSpec()
                .endSpec();
    }
}
