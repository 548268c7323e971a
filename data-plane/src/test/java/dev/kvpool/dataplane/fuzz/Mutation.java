// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.fuzz;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/** Makes wrong bytes out of right ones: a few changes to a sample, each of a kind that has broken some decoder before. */
final class Mutation {
    private static final int CHANGES_MAX = 4;
    private static final int BYTES_MAX = 64 << 10;

    /** Where a number begins to mean something else: ends of ranges, signs, and counts that a group may just have. */
    private static final long[] NUMBERS = {
        0,
        1,
        2,
        0x7F,
        0x80,
        0xFF,
        0x7FFF,
        0x8000,
        65_533,
        65_534,
        65_535,
        65_536,
        1 << 20,
        Integer.MAX_VALUE,
        1L << 31,
        -1,
        -2
    };

    private final List<byte[]> samples;

    Mutation(List<byte[]> samples) {
        this.samples = samples;
    }

    byte[] next(RandomGenerator random) {
        byte[] bytes = sample(random).clone();
        for (int changes = random.nextInt(CHANGES_MAX); changes >= 0; changes--) {
            bytes = change(bytes, random);
        }
        return bytes;
    }

    private byte[] sample(RandomGenerator random) {
        return samples.get(random.nextInt(samples.size()));
    }

    private byte[] change(byte[] bytes, RandomGenerator random) {
        return switch (random.nextInt(11)) {
            case 0 -> flipped(bytes, random);
            case 1 -> withNumber(bytes, random);
            case 2 -> withDimensions(bytes, random);
            case 3 -> withHeader(bytes, random);
            case 4 -> nearby(bytes, random);
            case 5 -> Arrays.copyOf(bytes, at(bytes.length + 1, random));
            case 6 -> without(bytes, random);
            case 7 -> repeated(bytes, random);
            case 8 -> spliced(bytes, sample(random), random);
            case 9 -> inserted(bytes, random);
            default -> bytes;
        };
    }

    private static byte[] flipped(byte[] bytes, RandomGenerator random) {
        if (bytes.length > 0) {
            bytes[at(bytes.length, random)] ^= (byte) (1 << random.nextInt(8));
        }
        return bytes;
    }

    /** A number of 1, 2, 4 or 8 bytes: a count, a length, a field. */
    private static byte[] withNumber(byte[] bytes, RandomGenerator random) {
        return put(bytes, at(bytes.length, random), 1 << random.nextInt(4), number(random));
    }

    /** What a group begins with: the length of a line, and how many there are. */
    private static byte[] withDimensions(byte[] bytes, RandomGenerator random) {
        long lineBytes = random.nextBoolean() ? random.nextInt(3) : number(random);
        return put(bytes, at(bytes.length, random), 4, (number(random) & 0xFFFF) << 16 | (lineBytes & 0xFFFF));
    }

    /** The header of a message: length of the block, template, schema, version. */
    private static byte[] withHeader(byte[] bytes, RandomGenerator random) {
        long value = random.nextBoolean() ? random.nextInt(64) : number(random);
        return put(bytes, 2 * random.nextInt(4), 2, value);
    }

    /** A number that is off by a little. */
    private static byte[] nearby(byte[] bytes, RandomGenerator random) {
        if (bytes.length > 0) {
            bytes[at(bytes.length, random)] += (byte) (random.nextInt(9) - 4);
        }
        return bytes;
    }

    private static byte[] without(byte[] bytes, RandomGenerator random) {
        int from = at(bytes.length + 1, random);
        int to = from + at(bytes.length - from + 1, random);
        return joined(Arrays.copyOf(bytes, from), Arrays.copyOfRange(bytes, to, bytes.length));
    }

    private static byte[] repeated(byte[] bytes, RandomGenerator random) {
        int from = at(bytes.length + 1, random);
        int length = at(bytes.length - from + 1, random);
        // Seldom often: what grows faster than the input shows only in long ones.
        int times = random.nextInt(8) > 0 ? 2 + random.nextInt(4) : 2 + random.nextInt(2000);
        int room = Math.max(0, BYTES_MAX - bytes.length);
        ByteBuffer out = ByteBuffer.allocate(bytes.length + Math.min(room, length * (times - 1)));
        out.put(bytes, 0, from);
        while (out.remaining() > bytes.length - from) {
            out.put(bytes, from, Math.min(length, out.remaining() - (bytes.length - from)));
        }
        return out.put(bytes, from, bytes.length - from).array();
    }

    private static byte[] spliced(byte[] head, byte[] tail, RandomGenerator random) {
        int from = at(tail.length + 1, random);
        return joined(Arrays.copyOf(head, at(head.length + 1, random)), Arrays.copyOfRange(tail, from, tail.length));
    }

    private static byte[] inserted(byte[] bytes, RandomGenerator random) {
        byte[] more = new byte[1 + random.nextInt(16)];
        random.nextBytes(more);
        int at = at(bytes.length + 1, random);
        return joined(joined(Arrays.copyOf(bytes, at), more), Arrays.copyOfRange(bytes, at, bytes.length));
    }

    private static byte[] joined(byte[] one, byte[] other) {
        byte[] both = Arrays.copyOf(one, Math.min(BYTES_MAX, one.length + other.length));
        if (both.length > one.length) {
            System.arraycopy(other, 0, both, one.length, both.length - one.length);
        }
        return both;
    }

    private static byte[] put(byte[] bytes, int at, int width, long value) {
        if (at + width <= bytes.length) {
            byte[] number = ByteBuffer.allocate(Long.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(value)
                    .array();
            System.arraycopy(number, 0, bytes, at, width);
        }
        return bytes;
    }

    private static long number(RandomGenerator random) {
        return NUMBERS[random.nextInt(NUMBERS.length)];
    }

    /** Below {@code end}, and 0 where nothing is. */
    private static int at(int end, RandomGenerator random) {
        return end <= 1 ? 0 : random.nextInt(end);
    }
}
