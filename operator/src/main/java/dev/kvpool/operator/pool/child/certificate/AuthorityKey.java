// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.certificate;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.PoolTrust;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.List;
import java.util.Map;

/** The key of the pool's own authority, with which masters sign certificates, their own included. The kubelet mounts it: the operator has no right to read Secrets. */
record AuthorityKey(PoolBlueprint pool) implements CertificateSource {
    private static final String VOLUME = "ca";
    private static final String DIRECTORY = "/etc/kvpool/ca";

    /** What masters trust and give to others beside the root of their own key, as it changes while they run. */
    private static final String ALL_ROOTS = "roots.crt";

    @Override
    public PodSpecBuilder apply(PodSpecBuilder pod) {
        return pod.addNewVolume()
                .withName(VOLUME)
                .withNewProjected()
                .withDefaultMode(CertificateDirectory.READ_BY_GROUP)
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

    @Override
    public void apply(ContainerBuilder container) {
        container
                .addNewVolumeMount()
                .withName(VOLUME)
                .withMountPath(DIRECTORY)
                .withReadOnly(true)
                .endVolumeMount();
    }

    @Override
    public List<String> arguments(String process) {
        return List.of("--ca-dir=" + DIRECTORY);
    }

    @Override
    public Map<String, String> notes() {
        return Map.of(PoolLabels.AUTHORITY, pool.security().fingerprint());
    }

    @Override
    public Map<String, Object> asked() {
        return Map.of("authority", pool.security().fingerprint());
    }
}
