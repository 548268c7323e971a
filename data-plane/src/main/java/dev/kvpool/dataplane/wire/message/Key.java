// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The key of an object: bytes that should be UTF-8, 1 to {@value #BYTES_MAX} of them. A key from the network may break that
 * rule; {@link #isValid} tells.
 */
public final class Key implements Comparable<Key> {
    public static final int BYTES_MAX = 4096;

    private final byte[] bytes;
    private final int hash;

    private Key(byte[] bytes) {
        this.bytes = bytes;
        this.hash = Arrays.hashCode(bytes);
    }

    /** Takes over {@code bytes}: the caller must not change them any more. */
    public static Key of(byte[] bytes) {
        return new Key(bytes);
    }

    public static Key of(String text) {
        return new Key(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The bytes themselves, not a copy; they must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    public int length() {
        return bytes.length;
    }

    public boolean isValid() {
        return bytes.length >= 1 && bytes.length <= BYTES_MAX && Utf8.isValid(bytes);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Key key && key.hash == hash && Arrays.equals(key.bytes, bytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** Any total order: hash maps need one to stay fast when a client sends keys with equal hashes on purpose. */
    @Override
    public int compareTo(Key other) {
        return Arrays.compareUnsigned(bytes, other.bytes);
    }

    @Override
    public String toString() {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
