// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** Every value of a run: no two are equal, and each tells in its first bytes which it is. */
final class Values {
    static final int BYTES_MIN = 16;

    /** What was put. */
    record Value(int number, String key, int length, int crc) {}

    private final List<Value> values = new ArrayList<>();

    byte[] make(String key, int length) {
        byte[] bytes = new byte[Math.max(BYTES_MIN, length)];
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int number = values.size();
        buffer.putLong(number);
        while (buffer.remaining() >= Long.BYTES) {
            buffer.putLong((number + 1) * 0x9E37_79B9_7F4A_7C15L + buffer.position());
        }
        values.add(new Value(number, key, bytes.length, Checksums.crc32c(bytes)));
        return bytes;
    }

    int latest() {
        return values.size() - 1;
    }

    /** The value these bytes are, whole and unchanged, or null. */
    Value of(byte[] bytes) {
        if (bytes.length < BYTES_MIN) {
            return null;
        }
        long number = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
        if (number < 0 || number >= values.size()) {
            return null;
        }
        Value value = values.get((int) number);
        return value.length == bytes.length && value.crc == Checksums.crc32c(bytes) ? value : null;
    }
}
