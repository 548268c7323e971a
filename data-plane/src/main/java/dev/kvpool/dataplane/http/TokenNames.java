// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import dev.kvpool.identity.name.PeerName;
import java.net.InetAddress;
import java.time.Instant;

/** Whose the tokens are that come with requests instead of a certificate. */
public interface TokenNames {
    /** What is known of a token. */
    sealed interface Bearer {}

    /**
     * It speaks for this name.
     *
     * @param until when it ends
     */
    record Named(PeerName name, Instant until) implements Bearer {}

    /**
     * It is not believed.
     *
     * @param status of the answer
     * @param why a sentence, which holds nothing of the token
     */
    record Refused(int status, String why) implements Bearer {}

    /**
     * Checks a token.
     *
     * @param from address that it came from
     */
    Bearer check(String token, InetAddress from);
}
