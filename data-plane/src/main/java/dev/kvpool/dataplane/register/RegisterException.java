// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.register;

/** A text is no register; the message says where. */
public final class RegisterException extends Exception {
    private static final long serialVersionUID = 1L;

    RegisterException(String message) {
        super(message);
    }
}
