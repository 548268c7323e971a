// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.certificate;

import dev.kvpool.api.v1alpha1.pod.MastersSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.security.NamesOfOthers;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.List;
import java.util.stream.Stream;

/**
 * What masters give a storage node, an agent or a Job its certificate for: a token of its ServiceAccount. Beside it are the pool's roots. The
 * certificate lies in memory and goes with the pod. Where masters give none, a Job shows them its token alone.
 */
public record Enrolment(PoolBlueprint pool) implements CertificateSource {
    private static final String IDENTITY = "identity";
    private static final String IDENTITY_DIR = "/etc/kvpool/identity";
    private static final String TOKEN = "token";

    /** Where the certificate is: below the volume, whose own directory the kubelet opens to the pod's group. */
    public static final String CERTIFICATE_DIR = CertificateDirectory.DIRECTORY + "/tls";

    private static final String TOKEN_FLAG = "--token-file=" + IDENTITY_DIR + "/" + TOKEN;
    private static final String ROOTS_FLAG = "--roots=" + IDENTITY_DIR + "/" + PoolTrust.ROOTS;

    /** Of a process that shows its token to masters. */
    public static final List<String> ASKING = List.of(TOKEN_FLAG, ROOTS_FLAG);

    private static final long TOKEN_LIFE_S = 3600;

    /** The token, the roots, and room for a certificate. */
    @Override
    public PodSpecBuilder apply(PodSpecBuilder pod) {
        return pod.addToVolumes(token(pool.names().trust()))
                .addNewVolume()
                .withName(CertificateDirectory.VOLUME)
                .withNewEmptyDir()
                .withMedium("Memory")
                .withSizeLimit(new Quantity("1Mi"))
                .endEmptyDir()
                .endVolume();
    }

    /**
     * The token, which is for this pool alone, and which the kubelet renews; the roots; and what names of others stand for.
     *
     * @param roots the ConfigMap with them
     */
    public Volume token(String roots) {
        return new VolumeBuilder()
                .withName(IDENTITY)
                .withNewProjected()
                .addNewSource()
                .withNewServiceAccountToken()
                .withAudience(audience(pool.poolId()))
                .withExpirationSeconds(TOKEN_LIFE_S)
                .withPath(TOKEN)
                .endServiceAccountToken()
                .endSource()
                .addNewSource()
                .withNewConfigMap()
                .withName(roots)
                .withItems(Stream.concat(
                                Stream.of(PoolTrust.ROOTS),
                                pool.security().trustDomain().stream().map(domain -> NamesOfOthers.FILE))
                        .map(file -> new KeyToPath(file, null, file))
                        .toList())
                .endConfigMap()
                .endSource()
                .endProjected()
                .build();
    }

    @Override
    public void apply(ContainerBuilder container) {
        container.addAllToVolumeMounts(mounts());
    }

    public static List<VolumeMount> mounts() {
        return List.of(
                tokenMount(),
                new VolumeMountBuilder()
                        .withName(CertificateDirectory.VOLUME)
                        .withMountPath(CertificateDirectory.DIRECTORY)
                        .build());
    }

    public static VolumeMount tokenMount() {
        return new VolumeMountBuilder()
                .withName(IDENTITY)
                .withMountPath(IDENTITY_DIR)
                .withReadOnly(true)
                .build();
    }

    @Override
    public List<String> arguments(String process) {
        return List.of("--tls-dir=" + CERTIFICATE_DIR, "--enrol-at=" + masters(), TOKEN_FLAG, ROOTS_FLAG);
    }

    /** What {@code kvpool enrol} is told, in an init container of a process that does not enrol itself. */
    public List<String> once() {
        return List.of("enrol", "--admins=" + masters(), TOKEN_FLAG, ROOTS_FLAG, "--out=" + CERTIFICATE_DIR, "--once");
    }

    /** As many as there can be: so it stays the same when their number changes. */
    private String masters() {
        return String.join(",", pool.names().enrolmentAddresses(MastersSpec.REPLICAS_MAX));
    }

    /** Whom a token must be for that a pool takes. */
    public static String audience(String poolId) {
        return "kvpool.dev/" + poolId;
    }
}
