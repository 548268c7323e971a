// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

/** This caller may not ask that, though it may use the path; the sentence says what it may. Answered 403. */
public final class NotPermittedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public NotPermittedException(String message) {
        super(message);
    }
}
