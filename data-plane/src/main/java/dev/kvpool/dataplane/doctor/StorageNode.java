// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import java.util.Optional;

/**
 * A storage node as the leader tells of it.
 *
 * @param id its name in the pool
 * @param incarnation the random number of this life of its process; 0 when the leader has not seen it
 * @param state ready, draining, drained, syncing, away or refused
 * @param reason why it is away; empty when it is not
 * @param address {@code HOST:PORT} for clients; empty when it is not there
 * @param sharedMemory boot id of its machine, a colon and the path of a unix socket there; empty when it shares none
 */
record StorageNode(String id, long incarnation, String state, String reason, String address, String sharedMemory) {
    /** Whether clients can be sent there: every state in which the leader has a connection with it. */
    boolean isThere() {
        return !address.isEmpty() && !state.equals("away") && !state.equals("refused");
    }

    /** Path of its socket when it runs on the machine that was booted with this id. */
    Optional<String> socketOn(String bootId) {
        int colon = sharedMemory.indexOf(':');
        boolean here = colon > 0
                && !bootId.isEmpty()
                && sharedMemory.substring(0, colon).equals(bootId);
        return here ? Optional.of(sharedMemory.substring(colon + 1)) : Optional.empty();
    }
}
