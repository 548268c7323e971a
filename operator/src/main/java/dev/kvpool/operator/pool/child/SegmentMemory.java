// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.HugePages;
import dev.kvpool.api.v1alpha1.StorageSetSpec;
import dev.kvpool.operator.pool.ByteAmount;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeBuilder;

/** Memory of a storage node: what the segment takes, from where, and what the process needs besides. */
public final class SegmentMemory {
    /** Name of the volume that the segment file is on. */
    public static final String VOLUME = "segments";

    /** For the process, its heap and its buffers. */
    private static final long PROCESS_BYTES = 512L << 20;

    /** For what a segment needs outside of its file: page tables, sockets, connection buffers. */
    private static final int SHARE = 16;

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

    static ContainerResources resources(StorageSetSpec set, HugePages pages) {
        long segment = ByteAmount.bytes(set.capacity());
        long besides = PROCESS_BYTES + segment / SHARE;
        ContainerResources resources = new ContainerResources();
        switch (pages) {
            case NONE -> resources.exactly("memory", ByteAmount.exact(segment + besides));
            case MI_2, GI_1 ->
                resources
                        .exactly("memory", ByteAmount.exact(besides))
                        .exactly(resourceName(pages), ByteAmount.exact(segment));
        }
        return resources;
    }

    /** Bytes of one page, or 0 for the machine's normal pages. */
    public static long pageBytes(HugePages pages) {
        return switch (pages) {
            case NONE -> 0;
            case MI_2 -> 2L << 20;
            case GI_1 -> 1L << 30;
        };
    }

    private static String resourceName(HugePages pages) {
        return "hugepages-" + ByteAmount.exact(pageBytes(pages));
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
