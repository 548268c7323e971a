// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.certificate;

import dev.kvpool.api.v1alpha1.security.CertificateCsi;
import dev.kvpool.api.v1alpha1.security.CertificateSecret;
import dev.kvpool.api.v1alpha1.security.CertificateVolume;
import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.NamesOfOthers;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import io.fabric8.kubernetes.api.model.VolumeProjectionBuilder;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The directory of certificates of a process that others fill. A CSI driver fills one for each pod. Secrets are the same for all pods of a template, so each
 * has a directory of its own in one volume, by the name of the process that reads it.
 *
 * @param names the ConfigMap that says what names of others stand for; empty where certificates have names of the pool
 * @param trustDomain of those names; empty likewise
 */
public record CertificateDirectory(
        String poolId, CertificateVolume from, Optional<String> names, Optional<String> trustDomain)
        implements CertificateSource {
    /** Where the volume is; what processes say of files that they cannot use begins with it. */
    public static final String DIRECTORY = "/etc/kvpool/certificate";

    static final String VOLUME = "certificate";
    private static final String POOL_ID = "${POOL_ID}";

    /** The kubelet gives files of Secrets to root and to the pod's file system group. */
    static final int READ_BY_GROUP = 0440;

    private static final String NAMES_VOLUME = "certificate-names";

    /** Behind the name of a directory: where its process looks for that file. */
    private static final String NAMES_DIRECTORY = ".names";

    static CertificateDirectory of(PoolBlueprint pool, CertificatesSpec certificates, CertificateVolume from) {
        Optional<String> trustDomain = Optional.ofNullable(certificates.trustDomain());
        return new CertificateDirectory(
                pool.poolId(), from, trustDomain.map(domain -> pool.names().identity()), trustDomain);
    }

    @Override
    public PodSpecBuilder apply(PodSpecBuilder pod) {
        if (from.csi() != null) {
            names.ifPresent(map -> pod.addNewVolume()
                    .withName(NAMES_VOLUME)
                    .withNewConfigMap()
                    .withName(map)
                    .withItems(new KeyToPath(NamesOfOthers.FILE, null, NamesOfOthers.FILE))
                    .endConfigMap()
                    .endVolume());
        }
        var volume = pod.addNewVolume().withName(VOLUME);
        return from.csi() == null
                ? volume.withNewProjected()
                        .withDefaultMode(READ_BY_GROUP)
                        .withSources(Stream.concat(
                                        inOrder().stream().map(CertificateDirectory::source),
                                        names.map(this::namesOfEach).stream())
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

    /** Each process looks for it beside its own directory. */
    private VolumeProjection namesOfEach(String map) {
        return new VolumeProjectionBuilder()
                .withNewConfigMap()
                .withName(map)
                .withItems(inOrder().stream()
                        .map(secret -> new KeyToPath(
                                NamesOfOthers.FILE, null, secret.name() + NAMES_DIRECTORY + "/" + NamesOfOthers.FILE))
                        .toList())
                .endConfigMap()
                .build();
    }

    private Map<String, String> attributes(CertificateCsi csi) {
        Map<String, String> attributes = new TreeMap<>(csi.volumeAttributes());
        attributes.replaceAll((name, value) -> value.replace(POOL_ID, poolId));
        return attributes;
    }

    @Override
    public void apply(ContainerBuilder container) {
        if (from.csi() != null && names.isPresent()) {
            container
                    .addNewVolumeMount()
                    .withName(NAMES_VOLUME)
                    .withMountPath(DIRECTORY + NAMES_DIRECTORY)
                    .withReadOnly(true)
                    .endVolumeMount();
        }
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
        Map<String, String> notes = new TreeMap<>(Map.of(PoolLabels.CERTIFICATES, PoolLabels.OF_DIRECTORY));
        trustDomain.ifPresent(domain -> notes.put(PoolLabels.TRUST_DOMAIN, domain));
        return notes;
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
        Map<String, Object> all = new TreeMap<>(Map.of("certificates", new TreeMap<>(asked)));
        names.ifPresent(map -> all.put("names", map));
        return all;
    }
}
