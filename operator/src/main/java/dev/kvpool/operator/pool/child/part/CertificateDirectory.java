// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.security.CertificateCsi;
import dev.kvpool.api.v1alpha1.security.CertificateSecret;
import dev.kvpool.api.v1alpha1.security.CertificateVolume;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import io.fabric8.kubernetes.api.model.VolumeProjectionBuilder;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The directory of certificates of a process that others fill. A CSI driver fills one for each pod. Secrets are the same for all pods of a template, so each
 * has a directory of its own in one volume, by the name of the process that reads it.
 */
public final class CertificateDirectory {
    /** Where the volume is; what processes say of files that they cannot use begins with it. */
    public static final String DIRECTORY = "/etc/kvpool/certificate";

    private static final String VOLUME = "certificate";
    private static final String POOL_ID = "${POOL_ID}";

    /** The kubelet gives files of Secrets to root and to the pod's file system group. */
    private static final int READ_BY_GROUP = 0440;

    private CertificateDirectory() {}

    static Volume volume(PoolBlueprint pool, CertificateVolume from) {
        VolumeBuilder volume = new VolumeBuilder().withName(VOLUME);
        return from.csi() == null
                ? volume.withNewProjected()
                        .withDefaultMode(READ_BY_GROUP)
                        .withSources(inOrder(from).stream()
                                .map(CertificateDirectory::source)
                                .toList())
                        .endProjected()
                        .build()
                : volume.withNewCsi()
                        .withDriver(from.csi().driver())
                        .withReadOnly(true)
                        .withVolumeAttributes(attributes(pool, from.csi()))
                        .endCsi()
                        .build();
    }

    /** Another order of the list is nothing that pods are replaced for. */
    private static List<CertificateSecret> inOrder(CertificateVolume from) {
        return from.secrets().stream()
                .sorted(Comparator.comparing(CertificateSecret::name).thenComparing(CertificateSecret::secretName))
                .toList();
    }

    /** A Secret that is not there yet holds back no other pod: its own process says what is missing. */
    private static VolumeProjection source(CertificateSecret secret) {
        return new VolumeProjectionBuilder()
                .withNewSecret()
                .withName(secret.secretName())
                .withOptional(true)
                .withItems(Stream.of("ca.crt", "tls.crt", "tls.key")
                        .map(file -> new KeyToPath(file, null, secret.name() + "/" + file))
                        .toList())
                .endSecret()
                .build();
    }

    private static Map<String, String> attributes(PoolBlueprint pool, CertificateCsi csi) {
        Map<String, String> attributes = new TreeMap<>(csi.volumeAttributes());
        attributes.replaceAll((name, value) -> value.replace(POOL_ID, pool.poolId()));
        return attributes;
    }

    static void mount(ContainerBuilder container) {
        container
                .addNewVolumeMount()
                .withName(VOLUME)
                .withMountPath(DIRECTORY)
                .withReadOnly(true)
                .endVolumeMount()
                // What it cannot use of the files is the last that a process says.
                .withTerminationMessagePolicy("FallbackToLogsOnError");
    }

    /**
     * As the command line has it.
     *
     * @param process name of the process, in which the kubelet may put variables
     */
    static String flag(CertificateVolume from, String process) {
        return "--tls-dir=" + DIRECTORY + (from.csi() == null ? "/" + process : "");
    }

    /** Where the certificate of a process comes from, for people. */
    public static String origin(CertificateVolume from, String process) {
        return from.csi() == null
                ? from.secrets().stream()
                        .filter(secret -> secret.name().equals(process))
                        .findFirst()
                        .map(secret -> "Secret " + secret.secretName())
                        .orElse("no Secret: spec.security.certificates names none for it")
                : "CSI driver " + from.csi().driver();
    }

    /** For digests of what is asked for. */
    static Map<String, Object> asked(CertificateVolume from) {
        Map<String, Object> asked = new TreeMap<>();
        if (from.csi() == null) {
            asked.put("secrets", inOrder(from).toString());
        } else {
            asked.put("driver", from.csi().driver());
            asked.put("attributes", new TreeMap<>(from.csi().volumeAttributes()));
        }
        return asked;
    }
}
