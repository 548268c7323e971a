// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.slab;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * SipHash with a secret of 128 bits. Who may choose keys but does not know the secret cannot choose keys that share a hash,
 * and so cannot make a table slow on purpose.
 */
public final class KeyHash {
    private static final VarHandle WORDS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    /** Rounds for each word and at the end: enough for a table, whose hashes nobody sees. */
    private static final int WORD_ROUNDS = 1;

    private static final int LAST_ROUNDS = 3;

    private final long secret0;
    private final long secret1;
    private final int wordRounds;
    private final int lastRounds;

    public KeyHash(long secret0, long secret1) {
        this(secret0, secret1, WORD_ROUNDS, LAST_ROUNDS);
    }

    KeyHash(long secret0, long secret1, int wordRounds, int lastRounds) {
        this.secret0 = secret0;
        this.secret1 = secret1;
        this.wordRounds = wordRounds;
        this.lastRounds = lastRounds;
    }

    public int of(byte[] bytes) {
        return of(bytes, 0, bytes.length);
    }

    public int of(byte[] bytes, int from, int length) {
        return (int) full(bytes, from, length);
    }

    long full(byte[] bytes, int from, int length) {
        long v0 = secret0 ^ 0x736f6d6570736575L;
        long v1 = secret1 ^ 0x646f72616e646f6dL;
        long v2 = secret0 ^ 0x6c7967656e657261L;
        long v3 = secret1 ^ 0x7465646279746573L;
        int words = length >> 3;
        for (int i = 0; i <= words + 1; i++) {
            boolean last = i > words;
            long word = i < words ? (long) WORDS.get(bytes, from + (i << 3)) : last ? 0 : tail(bytes, from, length);
            int rounds = last ? lastRounds : wordRounds;
            v3 ^= word;
            v2 ^= last ? 0xff : 0;
            for (int round = 0; round < rounds; round++) {
                v0 += v1;
                v2 += v3;
                v1 = Long.rotateLeft(v1, 13) ^ v0;
                v3 = Long.rotateLeft(v3, 16) ^ v2;
                v0 = Long.rotateLeft(v0, 32);
                v2 += v1;
                v0 += v3;
                v1 = Long.rotateLeft(v1, 17) ^ v2;
                v3 = Long.rotateLeft(v3, 21) ^ v0;
                v2 = Long.rotateLeft(v2, 32);
            }
            v0 ^= word;
        }
        return v0 ^ v1 ^ v2 ^ v3;
    }

    /** The bytes after the last whole word, and the length. */
    private static long tail(byte[] bytes, int from, int length) {
        long word = (long) length << 56;
        for (int i = length & ~7; i < length; i++) {
            word |= (bytes[from + i] & 0xffL) << ((i & 7) << 3);
        }
        return word;
    }
}
