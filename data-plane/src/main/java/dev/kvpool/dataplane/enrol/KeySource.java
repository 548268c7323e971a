// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.io.IOException;

/** Where the public keys of the API server come from. */
public interface KeySource {
    /**
     * Asks for them.
     *
     * @return a JSON Web Key Set
     * @throws IOException when there is no answer, or a refusal; the message says what to do
     */
    String keySet() throws IOException;

    /** Ends connections that are kept for the next question. */
    default void close() {}
}
