// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.security.PoolSecurity;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.HashMap;
import java.util.Map;

/** Pools whose certificates others make, and their pods. */
public final class DirectorySpec {
    private DirectorySpec() {}

    /** A root, as a value in double quotation marks. */
    public static String root() {
        return '"' + ActiveTrust.configMap().getData().get(PoolTrust.ROOTS).replace("\n", "\\n") + '"';
    }

    /** With Secrets for two masters and a storage node. */
    public static String secrets(String root) {
        return spec(
                root,
                "{secrets: [{name: demo-master-0, secretName: one}, {name: demo-master-1, secretName: two}]}",
                "{secrets: [{name: demo-a-0, secretName: three}]}");
    }

    /** With a CSI driver. */
    public static String csi() {
        return spec(
                root(),
                "{csi: {driver: csi.example, volumeAttributes: {uri: \"spiffe://${POOL_ID}/master/${POD_NAME}\"}}}",
                "{csi: {driver: csi.example, volumeAttributes: {uri: \"spiffe://${POOL_ID}/node/${POD_NAME}\"}}}");
    }

    private static String spec(String root, String masters, String storage) {
        return ("{security: {certificates: {source: Directory, ca: %s, masters: %s, storage: %s}},"
                        + " storage: [{name: a, capacity: 1Gi}], transferEngine: demo}")
                .formatted(root, masters, storage);
    }

    /**
     * A pod of the pool.
     *
     * @param authority as of pods whose certificates the operator makes, else empty
     * @param said the last that its container said, which is to be started again; empty for one that runs
     */
    public static ObservedPod pod(String name, String role, String authority, String said) {
        Map<String, String> notes = new HashMap<>(Map.of(PoolLabels.TLS, PoolSecurity.word(SecurityMode.REQUIRED)));
        if (!authority.isEmpty()) {
            notes.put(PoolLabels.AUTHORITY, authority);
        }
        PodBuilder pod = new PodBuilder()
                .withNewMetadata()
                .withName(name)
                .withUid("uid-" + name)
                .withLabels(Map.of(PoolLabels.ROLE, role))
                .withAnnotations(notes)
                .endMetadata()
                .withNewSpec()
                .endSpec();
        return ObservedPod.of(
                said.isEmpty()
                        ? pod.build()
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
}
