// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;

/** A view that lets so many fields be read from it: a decoder that goes round and round ends here, however fast it is. */
final class CountedView extends UnsafeBuffer {
    private long left;

    CountedView() {
        super(0, 0);
    }

    void allow(long reads) {
        left = reads;
    }

    @Override
    public long getLong(int index, ByteOrder order) {
        count();
        return super.getLong(index, order);
    }

    @Override
    public int getInt(int index, ByteOrder order) {
        count();
        return super.getInt(index, order);
    }

    @Override
    public short getShort(int index, ByteOrder order) {
        count();
        return super.getShort(index, order);
    }

    @Override
    public byte getByte(int index) {
        count();
        return super.getByte(index);
    }

    private void count() {
        if (--left < 0) {
            throw new AssertionError("more reads than the bytes could need");
        }
    }
}
