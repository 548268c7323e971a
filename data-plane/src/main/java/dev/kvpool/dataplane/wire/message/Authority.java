// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/** Who may command: the epoch of a leadership and the nonce of the process that holds it. */
public record Authority(long epoch, long nonce) {
    public static final Authority NONE = new Authority(0, 0);

    @Override
    public String toString() {
        return "epoch " + Long.toUnsignedString(epoch) + " of " + String.format("%016x", nonce);
    }
}
