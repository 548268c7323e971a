// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.VolumeMountBuilder;

/** A writable /tmp, as the root file system is read only. */
public final class ScratchVolume {
    private static final String NAME = "tmp";

    private ScratchVolume() {}

    public static Volume volume() {
        return new VolumeBuilder()
                .withName(NAME)
                .withNewEmptyDir()
                .withSizeLimit(new Quantity("256Mi"))
                .endEmptyDir()
                .build();
    }

    public static VolumeMount mount() {
        return new VolumeMountBuilder().withName(NAME).withMountPath("/tmp").build();
    }
}
