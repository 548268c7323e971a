// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.util.HashMap;
import java.util.Map;

/**
 * The statuses of {@code enum kv_status} in {@code kvpool.h}, which also cross the wire. The hundreds digit of the code says
 * what is broken: 1 this object, 2 this call, 3 room in the pool, 4 this connection, 5 leadership, 6 a segment, 9 kvpool.
 */
public enum Status {
    OK(0),
    NOT_FOUND(-101),
    EXISTS(-102),
    BUSY(-103),
    HAS_LEASE(-104),
    LEASE_EXPIRED(-105),
    UNAVAILABLE(-106),
    INVALID_KEY(-107),
    TOO_LARGE(-108),
    CHECKSUM(-109),
    BUFFER_TOO_SMALL(-110),
    INVALID_ARGUMENT(-201),
    NOT_REGISTERED(-202),
    TIMEOUT(-203),
    CLOSED(-204),
    QUEUE_FULL(-205),
    TOO_OLD(-206),
    NO_SPACE(-301),
    CONNECT_FAILED(-401),
    TRANSFER_FAILED(-402),
    PROTOCOL(-403),
    IDENTITY_MISMATCH(-404),
    VERSION_MISMATCH(-405),
    NOT_LEADER(-501),
    RECOVERING(-502),
    STALE_EPOCH(-503),
    NOT_FENCED(-504),
    SEGMENT_IN_USE(-601),
    SEGMENT_FOREIGN(-602),
    SEGMENT_LAYOUT(-603),
    OUT_OF_MEMORY(-604),
    IO(-605),
    INTERNAL(-901);

    private static final Map<Integer, Status> BY_CODE = new HashMap<>();

    static {
        for (Status status : values()) {
            BY_CODE.put(status.code, status);
        }
    }

    private final int code;

    Status(int code) {
        this.code = code;
    }

    /** The number of this status in C and on the wire. */
    public int code() {
        return code;
    }

    /** The name in {@code kvpool.h}, for example {@code KV_NOT_FOUND}. */
    public String nativeName() {
        return "KV_" + name();
    }

    /** The status with this number; a number nobody knows is a defect of the sender and becomes {@link #INTERNAL}. */
    public static Status of(int code) {
        return BY_CODE.getOrDefault(code, INTERNAL);
    }
}
