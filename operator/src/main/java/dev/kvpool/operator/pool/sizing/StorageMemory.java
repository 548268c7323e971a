// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.sizing;

import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.api.v1alpha1.engine.HugePages;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.api.v1alpha1.storage.VolumeType;
import dev.kvpool.operator.pool.naming.ByteAmount;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Optional;

/**
 * Memory of a storage node: what the segment takes, from where, and what the process needs besides.
 *
 * @param segment bytes of the segment
 * @param pages what it consists of
 * @param onDisk true when the kernel can give its pages up
 * @param ssd bytes of the disk below it, 0 without
 * @param accelerated whether it opens NPUs, and so loads CANN
 * @param pinsReads true when UCX or CANN move what is read from the disk, from memory that they pin
 * @param staging that clients on the machine may share with it, 0 when they share none
 */
record StorageMemory(
        long segment, HugePages pages, boolean onDisk, long ssd, boolean accelerated, boolean pinsReads, long staging) {
    /** The process, its heap of 64Mi and its buffers, with a few clients. */
    private static final long PROCESS_BYTES_MIN = 256L << 20;

    /** The same with many. */
    private static final long PROCESS_BYTES = 512L << 20;

    /**
     * Page tables take a 512th of a segment. Three times as much is the index of objects of 32 KiB on average: 155
     * bytes each, and during a start somewhat more.
     */
    private static final int INDEX_SHARE_MIN = 128;

    /** An object in each 4 KiB, which is as many as a segment can hold. */
    private static final int INDEX_SHARE = 16;

    /** An object in each 64 KiB of it, which is as many as an SSD can hold. */
    private static final int SSD_SHARE = 256;

    /** An object in each 256 KiB. */
    private static final int SSD_SHARE_MIN = 1024;

    /**
     * What was read from the SSD and its reader has not taken: nodes begin no read above 256 MiB, with values of 128
     * MiB at most. Where UCX or CANN move it, 128 MiB of that are pinned.
     */
    private static final long SSD_READS_BYTES = 384L << 20;

    /** The same with values of a few MiB and few readers. */
    private static final long SSD_READS_BYTES_MIN = 64L << 20;

    /** The same with the part of it that is pinned. */
    private static final long SSD_PINNED_READS_BYTES_MIN = SSD_READS_BYTES_MIN + (128L << 20);

    /**
     * 256 MiB are memory of ACL's that the node pins for transfers. The rest is for its libraries and the driver, as in
     * the container that looks for NPUs before it starts; how much they take was not measured on one.
     */
    private static final long CANN_BYTES = 1L << 30;

    private static final String INDEX = "page tables and index";
    private static final String SSD = "index of the SSD";
    private static final String SSD_READS = "reads from the SSD";
    private static final String PROCESS = "process";
    private static final String SHARED_MEMORY = "/dev/shm";
    private static final String CANN = "CANN";
    private static final String STAGING = "memory that clients share";

    static StorageMemory of(StorageSetSpec set, TransferEngineSpec engine) {
        return new StorageMemory(
                ByteAmount.bytes(set.capacity()),
                engine.memory().hugePages(),
                set.volume().type() == VolumeType.PERSISTENT_VOLUME_CLAIM,
                set.ssd() == null ? 0 : ByteAmount.bytes(set.ssd().capacity()),
                engine.accelerator() != null && engine.accelerator().opensDevices(),
                engine.fabric().isPresent(),
                engine.socketDirectory() == null ? 0 : Sizing.STAGING_BYTES);
    }

    /** What the operator gives a storage node. */
    MemorySum sum() {
        return MemorySum.NOTHING
                .plusIf(inMemory(), onDisk ? "segment in the page cache" : "segment", segment)
                .plus(INDEX, segment / INDEX_SHARE)
                .plusIf(ssd > 0, SSD, ssd / SSD_SHARE)
                .plusIf(ssd > 0, SSD_READS, SSD_READS_BYTES)
                .plus(PROCESS, PROCESS_BYTES)
                .plusIf(accelerated, SHARED_MEMORY, Sizing.DRIVER_SHARED_MEMORY_BYTES)
                .plusIf(accelerated, CANN, CANN_BYTES)
                .plusIf(staging > 0, STAGING, staging);
    }

    /** Below this its pods would be killed while they fill. */
    MemorySum least() {
        return MemorySum.NOTHING
                .plusIf(inMemory() && !onDisk, "segment", segment)
                .plus(INDEX, segment / INDEX_SHARE_MIN)
                .plusIf(ssd > 0, SSD, ssd / SSD_SHARE_MIN)
                .plusIf(ssd > 0, SSD_READS, pinsReads ? SSD_PINNED_READS_BYTES_MIN : SSD_READS_BYTES_MIN)
                .plus(PROCESS, PROCESS_BYTES_MIN)
                .plusIf(accelerated, SHARED_MEMORY, Sizing.DRIVER_SHARED_MEMORY_BYTES)
                .plusIf(accelerated, CANN, CANN_BYTES)
                .plusIf(staging > 0, STAGING, staging);
    }

    /** Huge pages are counted apart from memory. */
    Optional<Quantity> hugePages() {
        return inMemory() ? Optional.empty() : Optional.of(ByteAmount.exact(segment));
    }

    private boolean inMemory() {
        return pages == HugePages.NONE;
    }
}
