// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import java.io.IOException;
import java.time.Instant;

/** Who makes tokens. */
@FunctionalInterface
interface TokenIssuer {
    /**
     * A token.
     *
     * @param until when it ends, by the issuer's clock
     */
    record Issued(String text, Instant until) {}

    /**
     * Makes one for this audience.
     *
     * @throws IOException when there is none; the message is the end of a sentence
     */
    Issued issue(String audience) throws IOException;
}
