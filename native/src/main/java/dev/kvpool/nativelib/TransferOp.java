// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

/** The numbers of {@code enum kv_transfer_op}. */
enum TransferOp {
    WRITE(1),
    READ(2),
    PROBE(3);

    private final int code;

    TransferOp(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
