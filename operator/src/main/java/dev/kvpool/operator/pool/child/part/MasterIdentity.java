// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.security.PoolSecurity;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.List;
import java.util.Map;

/** What masters sign certificates with, their own included; or the directory where theirs are, when others make them. The kubelet mounts the key: the operator has no right to read Secrets. */
public final class MasterIdentity {
    private static final String VOLUME = "ca";
    private static final String DIRECTORY = "/etc/kvpool/ca";

    /** What masters trust and give to others beside the root of their own key, as it changes while they run. */
    private static final String ALL_ROOTS = "roots.crt";

    /** The kubelet gives files of Secrets to root and to the pod's file system group. */
    private static final int READ_BY_GROUP = 0440;

    private MasterIdentity() {}

    /** Gives the pod what it needs; nothing while the mode of masters is off. */
    public static void apply(PodSpecBuilder pod, PoolBlueprint pool) {
        if (!pool.security().masters().isOn()) {
            return;
        }
        if (pool.security().directory().isPresent()) {
            pod.addToVolumes(CertificateDirectory.volume(
                    pool, pool.security().directory().get().masters()));
        } else {
            pod.addNewVolume()
                    .withName(VOLUME)
                    .withNewProjected()
                    .withDefaultMode(READ_BY_GROUP)
                    .addNewSource()
                    .withNewSecret()
                    .withName(pool.names().authority(pool.security().fingerprint()))
                    .endSecret()
                    .endSource()
                    .addNewSource()
                    .withNewConfigMap()
                    .withName(pool.names().trust())
                    .addNewItem()
                    .withKey(PoolTrust.ROOTS)
                    .withPath(ALL_ROOTS)
                    .endItem()
                    .endConfigMap()
                    .endSource()
                    .endProjected()
                    .endVolume();
        }
    }

    /** What the template says of the certificate, so that the operator knows by which root each master is verified. */
    public static Map<String, String> notes(PoolBlueprint pool) {
        if (!pool.security().masters().isOn()) {
            return Map.of();
        }
        return pool.security().directory().isPresent()
                ? Map.of(PoolLabels.CERTIFICATES, PoolLabels.OF_DIRECTORY)
                : Map.of(PoolLabels.AUTHORITY, pool.security().fingerprint());
    }

    /** The container. */
    public static void apply(ContainerBuilder container, PoolBlueprint pool) {
        if (!pool.security().masters().isOn()) {
            return;
        }
        container.addToPorts(MemberIdentity.port());
        if (pool.security().directory().isPresent()) {
            CertificateDirectory.mount(container);
        } else {
            container
                    .addNewVolumeMount()
                    .withName(VOLUME)
                    .withMountPath(DIRECTORY)
                    .withReadOnly(true)
                    .endVolumeMount();
        }
    }

    /**
     * What the command line says of it.
     *
     * @param rules file with the rules of enrolment
     * @param name of the master
     */
    public static List<String> arguments(PoolBlueprint pool, String rules, String name) {
        return pool.security().masters().isOn()
                ? List.of(
                        "--tls=" + PoolSecurity.word(pool.security().masters()),
                        pool.security()
                                .directory()
                                .map(certificates -> CertificateDirectory.flag(certificates.masters(), name))
                                .orElse("--ca-dir=" + DIRECTORY),
                        "--enrolment=" + rules,
                        "--secure-admin-port=" + PoolNames.SECURE_ADMIN_PORT)
                : List.of();
    }
}
