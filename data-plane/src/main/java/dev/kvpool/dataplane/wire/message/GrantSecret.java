// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import java.util.Arrays;

/** What a leader shares with one storage node under one authority. It is not shown in texts. */
public final class GrantSecret {
    public static final int BYTES = 32;

    private final byte[] bytes;

    private GrantSecret(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Takes over {@code bytes}: the caller must not change them any more.
     *
     * @throws IllegalArgumentException unless there are {@value #BYTES} of them
     */
    public static GrantSecret of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a grant secret has %d bytes, not %d".formatted(BYTES, bytes.length));
        }
        return new GrantSecret(bytes);
    }

    /** The bytes themselves, not a copy; they must not be changed. */
    public byte[] bytes() {
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof GrantSecret secret && Arrays.equals(secret.bytes, bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return "a grant secret";
    }
}
