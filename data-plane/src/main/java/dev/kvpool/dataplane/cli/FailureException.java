// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

/** A command cannot go on, for a reason outside of kvpool; the message names the cause and a way out. */
public final class FailureException extends Exception {
    public FailureException(String message) {
        super(message);
    }

    public FailureException(String message, Throwable cause) {
        super(message, cause);
    }
}
