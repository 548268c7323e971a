// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import java.io.IOException;

/** Tokens by which masters of a pool know who asks. */
public interface PoolTokens {
    /**
     * A token that is valid for a while yet. May ask the API server for it.
     *
     * @param audience who takes it: {@link #ofPool} or {@link #ofAuthority}
     * @throws IOException when there is none; the message is the end of a sentence
     */
    String token(String audience) throws IOException;

    /** A master did not take this one, though it may not have ended: the API server's keys may be others now. */
    default void refused(String token) {}

    /** Masters of a pool, for all roles but the operator's. */
    static String ofPool(String poolId) {
        return "kvpool.dev/" + poolId;
    }

    /**
     * Masters of a pool that have this certificate authority, for the operator: it asks pools whose names and roots anybody may have made, and what
     * it shows to one must open nothing at another. An authority of others has many pools, and the id of a pool is on objects that users may make; so
     * there the ServiceAccount of masters is part of it.
     *
     * @param authority by which the master was verified: its fingerprint, or FINGERPRINT/NAMESPACE/ACCOUNT
     */
    static String ofAuthority(String poolId, String authority) {
        return ofPool(poolId) + "/" + authority;
    }
}
