// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

/** {@code enum kv_op_code} of kvpool.h. */
enum OpCode {
    PUT(1),
    GET(2),
    EXISTS(3),
    REMOVE(4);

    /** KV_BATCH_FORCE: remove also what is leased. */
    static final int FLAG_FORCE = 2;

    private final int code;

    OpCode(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
