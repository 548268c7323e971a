// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import dev.kvpool.api.v1alpha1.storage.SsdSpec;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.VolumeType;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaimBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSetPersistentVolumeClaimRetentionPolicy;
import io.fabric8.kubernetes.api.model.apps.StatefulSetPersistentVolumeClaimRetentionPolicyBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The volumes of a storage node that outlive its pod. Kubernetes makes them for each, and brings a new pod to where they are. */
public final class StorageClaims {
    /** File systems keep blocks for themselves, and for root alone. */
    private static final int SHARE = 8;

    /** What Kubernetes takes a claim for that says nothing. */
    private static final String FILESYSTEM = "Filesystem";

    private static final String DELETE = "Delete";
    private static final String RETAIN = "Retain";

    private StorageClaims() {}

    /** Cannot be changed in a StatefulSet that is there, so nothing in it may follow a field that can be. */
    public static List<PersistentVolumeClaim> templates(PoolBlueprint pool, StorageSetSpec set) {
        return templates(pool.names().pool(), set);
    }

    /**
     * Whether a StatefulSet that is there can become that of a set. One of a set that was removed, and added again with another
     * volume, cannot: what a StatefulSet claims does not change.
     */
    public static boolean areThoseOf(StatefulSet stored, String pool, StorageSetSpec set) {
        return kinds(stored.getSpec().getVolumeClaimTemplates()).equals(kinds(templates(pool, set)));
    }

    private static List<List<Object>> kinds(List<PersistentVolumeClaim> templates) {
        return templates.stream().map(StorageClaims::kind).toList();
    }

    private static List<Object> kind(PersistentVolumeClaim claim) {
        return List.of(
                claim.getMetadata().getName(),
                Objects.requireNonNullElse(claim.getSpec().getVolumeMode(), FILESYSTEM),
                Optional.ofNullable(claim.getSpec().getStorageClassName()),
                ByteAmount.bytes(claim.getSpec().getResources().getRequests().get("storage")));
    }

    private static List<PersistentVolumeClaim> templates(String pool, StorageSetSpec set) {
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
        return new Room(null, bytes + bytes / SHARE);
    }

    /** What a claim asks for. */
    private record Room(String volumeMode, long bytes) {
        PersistentVolumeClaim template(String pool, StorageSetSpec set, String volume, String storageClass) {
            return new PersistentVolumeClaimBuilder()
                    .withNewMetadata()
                    .withName(volume)
                    .withLabels(PoolLabels.ofSet(pool, set.name()))
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
    public static StatefulSetPersistentVolumeClaimRetentionPolicy retention(PoolBlueprint pool, StorageSetSpec set) {
        return set.volume().type() == VolumeType.PERSISTENT_VOLUME_CLAIM
                ? new StatefulSetPersistentVolumeClaimRetentionPolicyBuilder()
                        .withWhenScaled(DELETE)
                        .withWhenDeleted(pool.spec().deletionPolicy() == DeletionPolicy.DELETE ? DELETE : RETAIN)
                        .build()
                : null;
    }
}
