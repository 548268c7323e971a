// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import dev.kvpool.dataplane.wire.message.Key;
import java.nio.charset.StandardCharsets;

/** Keys of 64 bytes as engines make them: a long common beginning and a number. */
final class Keys {
    private static final byte[] TEMPLATE =
            "a-model/with-a-name/tp0/layers/block-hash/0000000000000000000000".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private Keys() {}

    static Key of(long number) {
        byte[] bytes = TEMPLATE.clone();
        long rest = number;
        for (int i = bytes.length - 1; rest != 0; i--) {
            bytes[i] = DIGITS[(int) (rest & 15)];
            rest >>>= 4;
        }
        return Key.of(bytes);
    }
}
