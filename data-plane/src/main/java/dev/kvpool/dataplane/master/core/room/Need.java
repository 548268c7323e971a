// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.room;

/** What a node still has to lose, of its memory or of its SSD, in bytes and in directory slots. */
public final class Need {
    private long bytes;
    private long slots;

    public Need(long bytes, long slots) {
        this.bytes = bytes;
        this.slots = slots;
    }

    public boolean isOpen() {
        return bytes > 0 || slots > 0;
    }

    public long bytes() {
        return Math.max(0, bytes);
    }

    /** One extent goes. */
    public void take(long extentBytes) {
        bytes -= extentBytes;
        slots--;
    }

    /** Nothing more has to go for now. */
    public void close() {
        bytes = 0;
        slots = 0;
    }
}
