// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.DeletionPolicy;
import dev.kvpool.api.v1alpha1.SsdSpec;
import dev.kvpool.api.v1alpha1.StorageSetSpec;
import dev.kvpool.api.v1alpha1.VolumeType;
import dev.kvpool.operator.pool.ByteAmount;
import dev.kvpool.operator.pool.PoolBlueprint;
import dev.kvpool.operator.pool.PoolLabels;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.StatefulSetPersistentVolumeClaimRetentionPolicy;
import io.fabric8.kubernetes.api.model.apps.StatefulSetPersistentVolumeClaimRetentionPolicyBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The volumes of a storage node that outlive its pod. Kubernetes makes them for each, and brings a new pod to where they are. */
final class StorageClaims {
    /** File systems keep blocks for themselves, and for root alone. */
    private static final int SHARE = 8;

    private static final String DELETE = "Delete";
    private static final String RETAIN = "Retain";

    private StorageClaims() {}

    /** Cannot be changed in a StatefulSet that is there, so nothing in it may follow a field that can be. */
    static List<PersistentVolumeClaim> templates(PoolBlueprint pool, StorageSetSpec set) {
        if (set.volume().type() != VolumeType.PERSISTENT_VOLUME_CLAIM) {
            return List.of();
        }
        List<PersistentVolumeClaim> templates = new ArrayList<>();
        templates.add(inFileSystem(set.capacity())
                .template(pool, set, SegmentMemory.VOLUME, set.volume().storageClassName()));
        if (set.ssd() != null) {
            SsdSpec ssd = set.ssd();
            Room room =
                    ssd.onDevice() ? new Room("Block", ByteAmount.bytes(ssd.capacity())) : inFileSystem(ssd.capacity());
            templates.add(room.template(pool, set, SsdVolume.VOLUME, ssd.storageClassName()));
        }
        return templates;
    }

    private static Room inFileSystem(Quantity file) {
        long bytes = ByteAmount.bytes(file);
        // What Kubernetes takes it for when nothing is said.
        return new Room(null, bytes + bytes / SHARE);
    }

    /** What a claim asks for. */
    private record Room(String volumeMode, long bytes) {
        PersistentVolumeClaim template(PoolBlueprint pool, StorageSetSpec set, String volume, String storageClass) {
            return new PersistentVolumeClaimBuilder()
                    .withNewMetadata()
                    .withName(volume)
                    .withLabels(PoolLabels.ofSet(pool.names().pool(), set.name()))
                    .endMetadata()
                    .withNewSpec()
                    .withAccessModes("ReadWriteOnce")
                    .withVolumeMode(volumeMode)
                    .withStorageClassName(storageClass)
                    .withNewResources()
                    .withRequests(Map.of("storage", ByteAmount.exact(bytes)))
                    .endResources()
                    .endSpec()
                    .build();
        }
    }

    /** A node that goes was emptied before, or may lose what it has; the pool as a whole goes as its spec says. */
    static StatefulSetPersistentVolumeClaimRetentionPolicy retention(PoolBlueprint pool, StorageSetSpec set) {
        return set.volume().type() == VolumeType.PERSISTENT_VOLUME_CLAIM
                ? new StatefulSetPersistentVolumeClaimRetentionPolicyBuilder()
                        .withWhenScaled(DELETE)
                        .withWhenDeleted(pool.spec().deletionPolicy() == DeletionPolicy.DELETE ? DELETE : RETAIN)
                        .build()
                : null;
    }
}
