// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.peer;

/** A peer whose certificate does not allow what it wants; the message names both and how to fix it. */
public final class RefusedPeerException extends Exception {
    private final Refusal why;

    public RefusedPeerException(Refusal why, String message) {
        super(message);
        this.why = why;
    }

    public Refusal why() {
        return why;
    }
}
