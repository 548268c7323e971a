// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

/** The store of the Lease did not answer, or not in a way that can be understood; the message says what to do. */
public final class LeaseStoreException extends Exception {
    public LeaseStoreException(String message) {
        super(message);
    }

    public LeaseStoreException(String message, Throwable cause) {
        super(message, cause);
    }
}
