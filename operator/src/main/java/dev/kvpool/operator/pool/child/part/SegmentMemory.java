// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.engine.HugePages;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.sizing.HugePageResource;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;

/** The memory that a segment is in. */
public final class SegmentMemory {
    /** Name of the volume that the segment file is on. */
    public static final String VOLUME = "segments";

    /** The volume holds a socket beside the segment file. */
    private static final long VOLUME_SLACK_BYTES = 16L << 20;

    private SegmentMemory() {}

    static Volume volume(StorageSetSpec set, HugePages pages) {
        long segment = ByteAmount.bytes(set.capacity());
        return switch (pages) {
            case NONE -> memory("Memory", segment + VOLUME_SLACK_BYTES);
            case MI_2 -> memory("HugePages-2Mi", segment);
            case GI_1 -> memory("HugePages-1Gi", segment);
        };
    }

    static ContainerResources resources(PoolBlueprint pool, StorageSetSpec set) {
        HugePages pages = pool.engine(set).memory().hugePages();
        ContainerResources resources =
                new ContainerResources().exactly("memory", pool.sizing().storage(set));
        pool.sizing().hugePages(set).ifPresent(amount -> resources.exactly(HugePageResource.name(pages), amount));
        return resources;
    }

    private static Volume memory(String medium, long limitBytes) {
        return new VolumeBuilder()
                .withName(VOLUME)
                .withNewEmptyDir()
                .withMedium(medium)
                .withSizeLimit(ByteAmount.exact(limitBytes))
                .endEmptyDir()
                .build();
    }
}
