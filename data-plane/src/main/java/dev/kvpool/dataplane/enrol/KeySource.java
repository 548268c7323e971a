// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.io.IOException;
import java.util.Optional;

/** Where the public keys of the API server come from. */
public interface KeySource {
    /**
     * Asks for them.
     *
     * @return a JSON Web Key Set
     * @throws IOException when there is no answer, or a refusal; the message says what to do
     */
    String keySet() throws IOException;

    /**
     * Asks who signs with them, the claim {@code iss} of tokens; empty where that is not known.
     *
     * @throws IOException as {@link #keySet}
     */
    default Optional<String> issuer() throws IOException {
        return Optional.empty();
    }

    /** Ends connections that are kept for the next question. */
    default void close() {}
}
