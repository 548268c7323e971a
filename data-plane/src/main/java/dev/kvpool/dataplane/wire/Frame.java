// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire;

/** A frame is the length of its body, the CRC-32C of its body, and the body: two unsigned 32-bit numbers, little endian. */
public final class Frame {
    public static final int HEADER_BYTES = 8;
    public static final int BODY_BYTES_MAX = 1 << 20;

    /** What a connection may buffer here before its Hello was accepted. */
    public static final int HELLO_BYTES_MAX = 64 << 10;

    private Frame() {}
}
