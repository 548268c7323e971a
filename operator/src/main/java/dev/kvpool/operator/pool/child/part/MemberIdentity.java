// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.pod.MastersSpec;
import dev.kvpool.api.v1alpha1.security.CertificateVolume;
import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.api.v1alpha1.security.Payloads;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.security.PoolSecurity;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerPort;
import io.fabric8.kubernetes.api.model.ContainerPortBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.List;
import java.util.Optional;

/**
 * By what a storage node, an agent or a Job gets its certificate: a token of its ServiceAccount and the pool's roots. The certificate lies in memory
 * and goes with the pod. Where others make the certificates, storage nodes have theirs in a directory, and a Job shows its token alone.
 */
public final class MemberIdentity {
    private static final String IDENTITY = "identity";
    private static final String IDENTITY_DIR = "/etc/kvpool/identity";
    private static final String TOKEN = "token";
    private static final String CERTIFICATE = "certificate";
    private static final String CERTIFICATE_VOLUME_DIR = "/etc/kvpool/certificate";

    /** Below the volume, whose own directory the kubelet opens to the pod's group. */
    private static final String CERTIFICATE_DIR = CERTIFICATE_VOLUME_DIR + "/tls";

    private static final long TOKEN_LIFE_S = 3600;

    private MemberIdentity() {}

    /** Gives a storage node's or agent's pod what its process needs; nothing while its mode is off. */
    public static void apply(PodSpecBuilder pod, PoolBlueprint pool, String serviceAccount) {
        if (pool.security().members().isOn()) {
            pod.withServiceAccountName(serviceAccount)
                    .addAllToVolumes(directory(pool)
                            .map(from -> List.of(CertificateDirectory.volume(pool, from)))
                            .orElseGet(() -> volumes(pool)));
        }
    }

    /** Of storage nodes; with such a source a pool has no agents. */
    private static Optional<CertificateVolume> directory(PoolBlueprint pool) {
        return pool.security().directory().map(CertificatesSpec::storage);
    }

    /** Its container. */
    public static void apply(ContainerBuilder container, PoolBlueprint pool, boolean hostNetwork) {
        if (pool.security().members().isOn()) {
            if (directory(pool).isPresent()) {
                CertificateDirectory.mount(container);
            } else {
                container.addAllToVolumeMounts(mounts());
            }
            if (!hostNetwork) {
                container.addToPorts(port());
            }
        }
    }

    /**
     * What its command line says of it.
     *
     * @param process id of the storage node, or the name of the agent
     */
    public static List<String> arguments(PoolBlueprint pool, boolean hostNetwork, String process) {
        if (!pool.security().members().isOn()) {
            return List.of();
        }
        if (directory(pool).isPresent()) {
            return List.of(
                    "--tls=" + PoolSecurity.word(pool.security().members()),
                    CertificateDirectory.flag(directory(pool).get(), process),
                    securePort(hostNetwork));
        }
        return List.of(
                "--tls=" + PoolSecurity.word(pool.security().members()),
                "--tls-dir=" + CERTIFICATE_DIR,
                "--enrol-at=" + String.join(",", pool.names().enrolmentAddresses(MastersSpec.REPLICAS_MAX)),
                "--token-file=" + IDENTITY_DIR + "/" + TOKEN,
                "--roots=" + IDENTITY_DIR + "/" + PoolTrust.ROOTS,
                securePort(hostNetwork));
    }

    private static String securePort(boolean hostNetwork) {
        return "--secure-admin-port=" + (hostNetwork ? 0 : PoolNames.SECURE_ADMIN_PORT);
    }

    /** Of a process that shows its token to masters and needs no certificate. */
    public static List<String> asking() {
        return List.of("--token-file=" + IDENTITY_DIR + "/" + TOKEN, "--roots=" + IDENTITY_DIR + "/" + PoolTrust.ROOTS);
    }

    /** What a storage node is told besides. */
    static List<String> payloads(PoolBlueprint pool) {
        return areAuthenticated(pool) ? List.of("--payloads=authenticated") : List.of();
    }

    /** Whether storage nodes leave TLS behind the handshake; none does while it is off on the way to another mode. */
    static boolean areAuthenticated(PoolBlueprint pool) {
        return pool.security().members().isOn() && pool.spec().security().payloads() == Payloads.AUTHENTICATED;
    }

    /** What {@code kvpool enrol} is told, in an init container of a process that does not enrol itself. */
    public static List<String> enrolOnce(PoolBlueprint pool) {
        return List.of(
                "enrol",
                "--admins=" + String.join(",", pool.names().enrolmentAddresses(MastersSpec.REPLICAS_MAX)),
                "--token-file=" + IDENTITY_DIR + "/" + TOKEN,
                "--roots=" + IDENTITY_DIR + "/" + PoolTrust.ROOTS,
                "--out=" + CERTIFICATE_DIR,
                "--once");
    }

    /** Where that puts the certificate. */
    public static String directory() {
        return CERTIFICATE_DIR;
    }

    static ContainerPort port() {
        return new ContainerPortBuilder()
                .withName(PoolNames.ADMIN_TLS)
                .withContainerPort(PoolNames.SECURE_ADMIN_PORT)
                .withProtocol("TCP")
                .build();
    }

    /** The token, the roots, and room for a certificate. */
    public static List<Volume> volumes(PoolBlueprint pool) {
        return List.of(
                token(pool, pool.names().trust()),
                new VolumeBuilder()
                        .withName(CERTIFICATE)
                        .withNewEmptyDir()
                        .withMedium("Memory")
                        .withSizeLimit(new Quantity("1Mi"))
                        .endEmptyDir()
                        .build());
    }

    /**
     * The token, which is for this pool alone, and which the kubelet renews; and the roots.
     *
     * @param roots the ConfigMap with them
     */
    public static Volume token(PoolBlueprint pool, String roots) {
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
                .addNewItem()
                .withKey(PoolTrust.ROOTS)
                .withPath(PoolTrust.ROOTS)
                .endItem()
                .endConfigMap()
                .endSource()
                .endProjected()
                .build();
    }

    public static List<VolumeMount> mounts() {
        return List.of(
                tokenMount(),
                new VolumeMountBuilder()
                        .withName(CERTIFICATE)
                        .withMountPath(CERTIFICATE_VOLUME_DIR)
                        .build());
    }

    public static VolumeMount tokenMount() {
        return new VolumeMountBuilder()
                .withName(IDENTITY)
                .withMountPath(IDENTITY_DIR)
                .withReadOnly(true)
                .build();
    }

    /** Whom a token must be for that a pool takes. */
    public static String audience(String poolId) {
        return "kvpool.dev/" + poolId;
    }
}
