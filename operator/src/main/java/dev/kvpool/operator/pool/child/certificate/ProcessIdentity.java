// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.certificate;

import dev.kvpool.api.v1alpha1.security.CertificateVolume;
import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.security.PoolSecurity;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** By what processes of one role have certificates; nothing while their mode is off. */
public final class ProcessIdentity {
    private final SecurityMode mode;
    private final Optional<CertificateSource> source;

    private ProcessIdentity(
            PoolBlueprint pool,
            SecurityMode mode,
            Function<CertificatesSpec, CertificateVolume> filled,
            CertificateSource own) {
        this.mode = mode;
        this.source = pool.security()
                .directory()
                .<CertificateSource>map(from -> CertificateDirectory.of(pool, from, filled.apply(from)))
                .or(() -> Optional.of(own))
                .filter(from -> mode.isOn());
    }

    public static ProcessIdentity ofMasters(PoolBlueprint pool) {
        return new ProcessIdentity(pool, pool.security().masters(), CertificatesSpec::masters, new AuthorityKey(pool));
    }

    /** Of storage nodes and agents; where others make the certificates a pool has no agents. */
    public static ProcessIdentity ofMembers(PoolBlueprint pool) {
        return new ProcessIdentity(pool, pool.security().members(), CertificatesSpec::storage, new Enrolment(pool));
    }

    public void apply(PodSpecBuilder pod, String serviceAccount) {
        source.ifPresent(from -> from.apply(pod.withServiceAccountName(serviceAccount)));
    }

    public void apply(ContainerBuilder container, boolean hostNetwork) {
        source.ifPresent(from -> {
            from.apply(container);
            if (!hostNetwork) {
                container
                        .addNewPort()
                        .withName(PoolNames.ADMIN_TLS)
                        .withContainerPort(PoolNames.SECURE_ADMIN_PORT)
                        .withProtocol("TCP")
                        .endPort();
            }
        });
    }

    /**
     * What the command line says of it.
     *
     * @param process its name, in which the kubelet may put variables
     * @param more what it says besides
     */
    public List<String> arguments(boolean hostNetwork, String process, String... more) {
        List<String> arguments = new ArrayList<>();
        source.ifPresent(from -> {
            arguments.add("--tls=" + PoolSecurity.word(mode));
            arguments.addAll(from.arguments(process));
            arguments.addAll(List.of(more));
            arguments.add("--secure-admin-port=" + (hostNetwork ? 0 : PoolNames.SECURE_ADMIN_PORT));
        });
        return arguments;
    }

    /** What the template says of the certificate. */
    public Map<String, String> notes() {
        return source.map(CertificateSource::notes).orElse(Map.of());
    }

    /** For digests of what is asked for. */
    public Map<String, Object> asked() {
        return source.map(CertificateSource::asked).orElse(Map.of());
    }
}
