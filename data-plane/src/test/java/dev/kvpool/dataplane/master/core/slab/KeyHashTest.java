// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.slab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class KeyHashTest {
    private static final long SECRET0 = 0x0706050403020100L;
    private static final long SECRET1 = 0x0f0e0d0c0b0a0908L;

    /** The example in the paper that describes SipHash-2-4: the key 00..0f and the message 00..0e. */
    @Test
    void isSipHash() {
        KeyHash hash = new KeyHash(SECRET0, SECRET1, 2, 4);

        assertThat(hash.full(counting(15), 0, 15)).isEqualTo(0xa129ca6149be45e5L);
    }

    @Test
    void readsOnlyTheBytesItIsGiven() {
        KeyHash hash = new KeyHash(SECRET0, SECRET1);
        for (int length = 0; length < 40; length++) {
            byte[] among = new byte[64];
            Arrays.fill(among, (byte) 0x55);
            System.arraycopy(counting(length), 0, among, 7, length);

            assertThat(hash.of(among, 7, length)).isEqualTo(hash.of(counting(length)));
        }
    }

    @Test
    void dependsOnTheSecretAndOnEveryByteAndOnTheLength() {
        byte[] bytes = counting(20);
        int known = new KeyHash(SECRET0, SECRET1).of(bytes);

        assertThat(new KeyHash(SECRET0 + 1, SECRET1).of(bytes)).isNotEqualTo(known);
        assertThat(new KeyHash(SECRET0, SECRET1 + 1).of(bytes)).isNotEqualTo(known);
        for (int i = 0; i < bytes.length; i++) {
            byte[] changed = bytes.clone();
            changed[i] ^= 1;
            assertThat(new KeyHash(SECRET0, SECRET1).of(changed)).isNotEqualTo(known);
        }
        byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
        assertThat(new KeyHash(SECRET0, SECRET1).of(longer)).isNotEqualTo(known);
    }

    private static byte[] counting(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }
}
