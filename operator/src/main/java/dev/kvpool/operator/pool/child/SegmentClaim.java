// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.DeletionPolicy;
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
import java.util.List;
import java.util.Map;

/** The volume of a storage node that outlives its pod. Kubernetes makes one for each, and brings a new pod to where it is. */
final class SegmentClaim {
    /** File systems keep blocks for themselves, and for root alone. */
    private static final int SHARE = 8;

    private static final String DELETE = "Delete";
    private static final String RETAIN = "Retain";

    private SegmentClaim() {}

    /** Cannot be changed in a StatefulSet that is there, so nothing in it may follow a field that can be. */
    static List<PersistentVolumeClaim> templates(PoolBlueprint pool, StorageSetSpec set) {
        if (set.volume().type() != VolumeType.PERSISTENT_VOLUME_CLAIM) {
            return List.of();
        }
        long segment = ByteAmount.bytes(set.capacity());
        String bytes = ByteAmount.exact(segment + segment / SHARE).toString();
        return List.of(new PersistentVolumeClaimBuilder()
                .withNewMetadata()
                .withName(SegmentMemory.VOLUME)
                .withLabels(PoolLabels.ofSet(pool.names().pool(), set.name()))
                .endMetadata()
                .withNewSpec()
                .withAccessModes("ReadWriteOnce")
                .withStorageClassName(set.volume().storageClassName())
                .withNewResources()
                .withRequests(Map.of("storage", new Quantity(bytes)))
                .endResources()
                .endSpec()
                .build());
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
