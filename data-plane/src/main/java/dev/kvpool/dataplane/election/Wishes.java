// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.Optional;

/**
 * What this master wants of a round, beyond looking at the Lease.
 *
 * @param raiseAbove lead with an epoch above this one; 0 for no such wish
 * @param release give the Lease back if it is ours
 * @param gone the holder of this authority is known to be gone: its Lease need not run out; {@link Authority#NONE} for no holder
 * @param goneSinceMs when that was learnt, on the elector's clock
 * @param silent the holder of this authority answered no client at {@code silentAtMs}, on the elector's clock, unless it had renewed its
 *     Lease just before: if it had not, that need not run out either; {@link Authority#NONE} for nobody
 * @param store the register that the leader of an authority wants to be stored, while it leads under that one
 */
public record Wishes(
        long raiseAbove,
        boolean release,
        Authority gone,
        long goneSinceMs,
        Authority silent,
        long silentAtMs,
        Optional<RegisterWish> store) {
    /** A register, and who wants it stored. */
    public record RegisterWish(Authority leader, Register register) {}
}
