// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/** Tells valid UTF-8 (RFC 3629: shortest form, no surrogates, up to U+10FFFF) without decoding it. */
final class Utf8 {
    private Utf8() {}

    static boolean isValid(byte[] bytes) {
        int at = 0;
        while (at < bytes.length) {
            int length = sequenceLength(bytes, at);
            if (length == 0) {
                return false;
            }
            at += length;
        }
        return true;
    }

    /** Bytes of the valid sequence that begins at {@code at}; 0 when there is none. */
    private static int sequenceLength(byte[] bytes, int at) {
        int first = bytes[at] & 0xFF;
        if (first < 0x80) {
            return 1;
        }
        if (first < 0xC2 || first > 0xF4) {
            return 0;
        }
        int length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        if (at + length > bytes.length || !secondFits(first, bytes[at + 1] & 0xFF)) {
            return 0;
        }
        for (int i = 2; i < length; i++) {
            if ((bytes[at + i] & 0xC0) != 0x80) {
                return 0;
            }
        }
        return length;
    }

    /** The second byte is where overlong forms, surrogates and too large code points show. */
    private static boolean secondFits(int first, int second) {
        int low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        int high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        return second >= low && second <= high;
    }
}
