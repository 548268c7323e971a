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

    public static final Wishes NONE = new Wishes(0, false, Authority.NONE, 0);
    public static final Wishes RELEASE = new Wishes(0, true, Authority.NONE, 0);

    public Wishes(long raiseAbove, boolean release, Authority gone, long goneSinceMs) {
        this(raiseAbove, release, gone, goneSinceMs, Authority.NONE, 0, Optional.empty());
    }

    public static Wishes store(Authority leader, Register register) {
        return new Wishes(
                0, false, Authority.NONE, 0, Authority.NONE, 0, Optional.of(new RegisterWish(leader, register)));
    }

    public static Wishes raise(long above) {
        return new Wishes(above, false, Authority.NONE, 0);
    }

    public static Wishes gone(Authority holder, long sinceMs) {
        return new Wishes(0, false, holder, sinceMs);
    }

    public static Wishes silent(Authority holder, long atMs) {
        return new Wishes(0, false, Authority.NONE, 0, holder, atMs, Optional.empty());
    }
}
