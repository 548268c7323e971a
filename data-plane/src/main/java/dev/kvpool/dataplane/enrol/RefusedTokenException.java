// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.io.Serial;

/** A token or a request is not believed; the message says why and holds nothing of the token. */
public final class RefusedTokenException extends Exception {
    @Serial
    private static final long serialVersionUID = 1;

    private final Reason reason;

    /** Why, for counters and status codes. */
    public enum Reason {
        /** Too many come from its address, or from all; whether it is good was not looked at. */
        BUDGET,
        /** It is no token that an API server has made. */
        MALFORMED,
        /** The keys that the API server signs with do not verify it. */
        SIGNATURE,
        /** It is for another service, or of another cluster. */
        AUDIENCE,
        /** It is not valid yet, or not any more. */
        TIME,
        /** The token is good, and no rule gives its ServiceAccount a name. */
        NO_RULE,
        /** Who sent it does not have the private key. */
        PROOF,
        /** The API server does not say which keys it signs with. */
        KEYS_UNKNOWN
    }

    public RefusedTokenException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }

    /** The status of an answer that says so. */
    int httpStatus() {
        return switch (reason) {
            case BUDGET -> 429;
            case MALFORMED, SIGNATURE, AUDIENCE, TIME -> 401;
            case NO_RULE, PROOF -> 403;
            case KEYS_UNKNOWN -> 503;
        };
    }
}
