// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim.nativecore;

import com.sun.jna.Native;

/** The memory of a node's segment. It outlives the node's cores, as a file on tmpfs outlives processes. */
public final class SegmentMemory implements AutoCloseable {
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;

    private final long bytes;
    private long address;

    /** Pages come from the kernel when they are touched: most of a segment never is. */
    private static final class C {
        static {
            Native.register(C.class, "c");
        }

        static native long mmap(long address, long length, int protection, int flags, int fd, long offset);

        static native int munmap(long address, long length);
    }

    public SegmentMemory(long bytes) {
        this.bytes = bytes;
        map();
    }

    public long address() {
        return address;
    }

    public long bytes() {
        return bytes;
    }

    /** All zeros again, as a new tmpfs is. */
    public void wipe() {
        close();
        map();
    }

    private void map() {
        address = C.mmap(0, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0);
        if (address == -1) {
            throw new IllegalStateException("no memory for a segment of " + bytes + " bytes");
        }
    }

    @Override
    public void close() {
        C.munmap(address, bytes);
    }
}
