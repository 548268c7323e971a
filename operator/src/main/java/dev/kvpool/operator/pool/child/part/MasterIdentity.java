// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.security.PoolSecurity;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.List;

/** What masters sign certificates with, their own included. The kubelet mounts the key: the operator has no right to read Secrets. */
public final class MasterIdentity {
    private static final String VOLUME = "ca";
    private static final String DIRECTORY = "/etc/kvpool/ca";

    /** The kubelet gives files of Secrets to root and to the pod's file system group. */
    private static final int READ_BY_GROUP = 0440;

    private MasterIdentity() {}

    /** Gives the pod what it needs; nothing while the mode of masters is off. */
    public static void apply(PodSpecBuilder pod, PoolBlueprint pool) {
        if (pool.security().masters().isOn()) {
            pod.addNewVolume()
                    .withName(VOLUME)
                    .withNewSecret()
                    .withSecretName(pool.names().authority(pool.security().fingerprint()))
                    .withDefaultMode(READ_BY_GROUP)
                    .endSecret()
                    .endVolume();
        }
    }

    /** The container. */
    public static void apply(ContainerBuilder container, PoolBlueprint pool) {
        if (pool.security().masters().isOn()) {
            container
                    .addNewVolumeMount()
                    .withName(VOLUME)
                    .withMountPath(DIRECTORY)
                    .withReadOnly(true)
                    .endVolumeMount()
                    .addToPorts(MemberIdentity.port());
        }
    }

    /**
     * What the command line says of it.
     *
     * @param rules file with the rules of enrolment
     */
    public static List<String> arguments(PoolBlueprint pool, String rules) {
        return pool.security().masters().isOn()
                ? List.of(
                        "--tls=" + PoolSecurity.word(pool.security().masters()),
                        "--ca-dir=" + DIRECTORY,
                        "--enrolment=" + rules,
                        "--secure-admin-port=" + PoolNames.SECURE_ADMIN_PORT)
                : List.of();
    }
}
