// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How an operation ended: one constant for each {@code enum kv_status} of kvpool.h, with the same number on every border
 * (C ABI, wire, admin HTTP). The hundreds digit says what is broken: the object, the call, the room, the connection, the
 * leadership, the segment, or kvpool itself.
 *
 * <p>Using this type does not load the native library, so the master can speak statuses without it.
 */
public enum Status {
    OK(0, "Done."),

    NOT_FOUND(-101, "No object has this key."),
    EXISTS(-102, "An object has this key already; objects are immutable."),
    BUSY(-103, "Another client is putting this key; try again when it is done."),
    HAS_LEASE(-104, "A reader may still use the object; try again after its lease, or force it."),
    LEASE_EXPIRED(-105, "The read outlived its lease and the object is gone; look it up again."),
    UNAVAILABLE(-106, "The object is known, but nodes that hold it, or most storage nodes, are away."),
    INVALID_KEY(-107, "A key is 1 to 4096 bytes of UTF-8, the first not zero, less the bytes of a tenant's name."),
    TOO_LARGE(-108, "The value is larger than any segment of the pool."),
    CHECKSUM(-109, "The bytes do not match their CRC-32C."),
    BUFFER_TOO_SMALL(-110, "The buffer is too small; result_length says what is needed."),

    INVALID_ARGUMENT(-201, "An argument is out of range."),
    NOT_REGISTERED(-202, "The buffer lies outside every registered region."),
    TIMEOUT(-203, "The time given for the call is over."),
    CLOSED(-204, "The handle is closed."),
    QUEUE_FULL(-205, "A bound was reached; try again later."),
    TOO_OLD(-206, "Library and caller do not fit; compare kv_abi_version with the header's."),

    NO_SPACE(-301, "The pool has no room for the value."),
    QUOTA_EXCEEDED(-302, "The tenant is at its ceiling and none of its objects may go, or it may pin no more."),

    CONNECT_FAILED(-401, "The peer could not be reached."),
    TRANSFER_FAILED(-402, "The connection broke or made no progress during a transfer."),
    PROTOCOL(-403, "The peer sent something that is not the kvpool protocol."),
    IDENTITY_MISMATCH(-404, "The peer is not the one that was meant, or belongs to another pool."),
    VERSION_MISMATCH(-405, "The two sides have no common version."),
    NOT_PERMITTED(-406, "The certificate of this process, or what the leader granted, does not allow it."),

    NOT_LEADER(-501, "This master does not lead; ask the leader."),
    RECOVERING(-502, "The leader is still collecting what the nodes hold; try again soon."),
    STALE_EPOCH(-503, "A newer leader has taken over; ask it for a new grant."),
    NOT_FENCED(-504, "The node has not met the leader of this epoch yet; try again soon."),

    SEGMENT_IN_USE(-601, "Another process uses this segment file."),
    SEGMENT_FOREIGN(-602, "The file is no segment, or belongs to another pool or node."),
    SEGMENT_LAYOUT(-603, "The segment file has a layout version this library does not know."),
    OUT_OF_MEMORY(-604, "There is not enough memory."),
    IO(-605, "The operating system refused an operation."),

    INTERNAL(-901, "A defect of kvpool; please report it.");

    private static final Map<Integer, Status> BY_CODE =
            Stream.of(values()).collect(Collectors.toUnmodifiableMap(Status::code, Function.identity()));

    private final int code;
    private final String text;

    Status(int code, String text) {
        this.code = code;
        this.text = text;
    }

    /** The number on the wire and in C: 0 or negative. */
    public int code() {
        return code;
    }

    /** A sentence for logs and error messages, the same as that of {@code kv_status_text}. */
    public String text() {
        return text;
    }

    /** The name in kvpool.h, such as {@code KV_NOT_FOUND}. */
    public String nativeName() {
        return "KV_" + name();
    }

    /** The status with this number; one that this release does not know is taken for a defect, {@link #INTERNAL}. */
    public static Status of(int code) {
        return BY_CODE.getOrDefault(code, INTERNAL);
    }

    /** The status with this number; empty when this release does not know it. */
    public static Optional<Status> find(int code) {
        return Optional.ofNullable(BY_CODE.get(code));
    }
}
