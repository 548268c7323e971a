// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.certificate;

import dev.kvpool.api.v1alpha1.security.CertificateCsi;
import dev.kvpool.api.v1alpha1.security.CertificateSecret;
import dev.kvpool.api.v1alpha1.security.CertificateVolume;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
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
public record CertificateDirectory(String poolId, CertificateVolume from) implements CertificateSource {
    /** Where the volume is; what processes say of files that they cannot use begins with it. */
    public static final String DIRECTORY = "/etc/kvpool/certificate";

    static final String VOLUME = "certificate";
    private static final String POOL_ID = "${POOL_ID}";

    /** The kubelet gives files of Secrets to root and to the pod's file system group. */
    static final int READ_BY_GROUP = 0440;

    @Override
    public PodSpecBuilder apply(PodSpecBuilder pod) {
        var volume = pod.addNewVolume().withName(VOLUME);
        return from.csi() == null
                ? volume.withNewProjected()
                        .withDefaultMode(READ_BY_GROUP)
                        .withSources(inOrder().stream()
                                .map(CertificateDirectory::source)
                                .toList())
                        .endProjected()
                        .endVolume()
                : volume.withNewCsi()
                        .withDriver(from.csi().driver())
                        .withReadOnly(true)
                        .withVolumeAttributes(attributes(from.csi()))
                        .endCsi()
                        .endVolume();
    }

    /** Another order of the list is nothing that pods are replaced for. */
    private List<CertificateSecret> inOrder() {
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

    private Map<String, String> attributes(CertificateCsi csi) {
        Map<String, String> attributes = new TreeMap<>(csi.volumeAttributes());
        attributes.replaceAll((name, value) -> value.replace(POOL_ID, poolId));
        return attributes;
    }

    @Override
    public void apply(ContainerBuilder container) {
        container
                .addNewVolumeMount()
                .withName(VOLUME)
                .withMountPath(DIRECTORY)
                .withReadOnly(true)
                .endVolumeMount()
                // What it cannot use of the files is the last that a process says.
                .withTerminationMessagePolicy("FallbackToLogsOnError");
    }

    @Override
    public List<String> arguments(String process) {
        return List.of("--tls-dir=" + DIRECTORY + (from.csi() == null ? "/" + process : ""));
    }

    @Override
    public Map<String, String> notes() {
        return Map.of(PoolLabels.CERTIFICATES, PoolLabels.OF_DIRECTORY);
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

    @Override
    public Map<String, Object> asked() {
        CertificateCsi csi = from.csi();
        Map<String, Object> asked = csi == null
                ? Map.of("secrets", inOrder().toString())
                : Map.of("driver", csi.driver(), "attributes", new TreeMap<>(csi.volumeAttributes()));
        return Map.of("certificates", new TreeMap<>(asked));
    }
}
