// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;
import java.util.Optional;

/** The key that opens an encrypted SSD. The kubelet mounts it: the operator needs no right to read Secrets. */
final class SsdKey {
    private static final String VOLUME = "ssd-key";
    private static final String DIRECTORY = "/etc/kvpool/ssd-key";
    private static final String ENTRY = "key";

    /** The kubelet gives files of Secrets to root and to the pod's file system group. */
    private static final int READ_BY_GROUP = 0440;

    private SsdKey() {}

    static Optional<Volume> volume(StorageSetSpec set) {
        return secret(set)
                .map(name -> new VolumeBuilder()
                        .withName(VOLUME)
                        .withNewSecret()
                        .withSecretName(name)
                        .withDefaultMode(READ_BY_GROUP)
                        .addNewItem()
                        .withKey(ENTRY)
                        .withPath(ENTRY)
                        .endItem()
                        .endSecret()
                        .build());
    }

    static Optional<VolumeMount> mount(StorageSetSpec set) {
        return secret(set)
                .map(name -> new VolumeMountBuilder()
                        .withName(VOLUME)
                        .withMountPath(DIRECTORY)
                        .withReadOnly(true)
                        .build());
    }

    static Optional<String> argument(StorageSetSpec set) {
        return secret(set).map(name -> "--ssd-key-file=" + DIRECTORY + "/" + ENTRY);
    }

    private static Optional<String> secret(StorageSetSpec set) {
        return set.ssd() == null || set.ssd().encryption() == null
                ? Optional.empty()
                : Optional.of(set.ssd().encryption().keySecret());
    }
}
