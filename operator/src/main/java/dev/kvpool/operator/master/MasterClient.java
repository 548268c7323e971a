// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import java.util.Map;

/** Asks masters for their view of the pool. The only way the operator talks to the data plane. */
public interface MasterClient {
    /**
     * Asks all given masters at the same time, and takes no longer than a fixed limit for all of them together.
     *
     * @param addresses IP address of each master's pod, by pod name
     * @return one answer for each given pod
     */
    Map<String, MasterAnswer> ask(Map<String, String> addresses);
}
