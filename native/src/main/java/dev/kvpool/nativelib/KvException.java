// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.util.Objects;

/** A failure of the native library: what kind, and a sentence that names the cause. */
public final class KvException extends RuntimeException {
    private final Status status;

    public KvException(Status status, String message) {
        this(status, message, null);
    }

    public KvException(Status status, String message, Throwable cause) {
        super(Objects.requireNonNull(message, "message"), cause);
        this.status = Objects.requireNonNull(status, "status");
    }

    public Status status() {
        return status;
    }
}
