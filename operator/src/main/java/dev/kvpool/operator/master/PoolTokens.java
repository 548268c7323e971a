// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import java.io.IOException;

/** Tokens by which masters of a pool know who asks. */
public interface PoolTokens {
    /**
     * A token for one pool that is valid for a while yet. May ask the API server for it.
     *
     * @param poolId identity of the pool; no other one takes the token
     * @throws IOException when there is none; the message is the end of a sentence
     */
    String token(String poolId) throws IOException;
}
