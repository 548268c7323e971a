// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.wire.message.Authority;

/**
 * What this master wants of a round, beyond looking at the Lease.
 *
 * @param raiseAbove lead with an epoch above this one; 0 for no such wish
 * @param release give the Lease back if it is ours
 * @param gone the holder of this authority is known to be gone: its Lease need not run out; {@link Authority#NONE} for nobody
 * @param goneSinceMs when that was learnt, on the elector's clock
 */
public record Wishes(long raiseAbove, boolean release, Authority gone, long goneSinceMs) {
    public static final Wishes NONE = new Wishes(0, false, Authority.NONE, 0);
    public static final Wishes RELEASE = new Wishes(0, true, Authority.NONE, 0);

    public static Wishes raise(long above) {
        return new Wishes(above, false, Authority.NONE, 0);
    }

    public static Wishes gone(Authority holder, long sinceMs) {
        return new Wishes(0, false, holder, sinceMs);
    }
}
