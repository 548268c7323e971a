// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

/** Bytes that are no message of the schema; the connection they came from ends. */
public final class MalformedMessageException extends Exception {
    public MalformedMessageException(String message) {
        super(message);
    }

    public MalformedMessageException(String message, Throwable cause) {
        super(message, cause);
    }
}
