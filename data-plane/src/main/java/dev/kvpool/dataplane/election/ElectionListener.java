// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.register.Register;

/** Hears what the election decides, on the elector's thread. */
public interface ElectionListener {
    /** We lead, for the first time or with a raised epoch. */
    void leading(Term term);

    /** The leadership holds for longer. */
    void renewed(long validUntilMs);

    /** The Lease holds what {@link Wishes#store} asked for. */
    void registerStored(Register register);

    /** We do not lead, or no longer. */
    void standingBy(String reason);

    /** What the Lease says now; null when it could not be read or does not exist. */
    void observed(LeaseRecord lease);

    /** The store of the Lease failed; the next try comes by itself. */
    void failed(String reason);
}
