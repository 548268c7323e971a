// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

/**
 * What one tenant may have, and what others leave it. An object counts with as many copies as it should have, wherever these lie.
 *
 * @param guaranteedBytes up to here nothing is evicted for the sake of other tenants; 0 = nothing is guaranteed
 * @param ceilingBytes what is stored and granted stays at or below it; {@link #UNLIMITED} = the pool is the limit
 * @param ceilingObjects the same for the number of objects
 */
public record Quota(long guaranteedBytes, long ceilingBytes, long ceilingObjects) {
    /** The ceiling of a tenant that has none. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** That of a tenant without rules of its own. */
    public static final Quota NONE = new Quota(0, UNLIMITED, UNLIMITED);

    public Quota {
        if (guaranteedBytes < 0 || ceilingBytes < 1 || ceilingObjects < 1) {
            throw new IllegalArgumentException(
                    "a guarantee is 0 bytes or more, a ceiling 1 byte or 1 object or more, not " + guaranteedBytes
                            + ", " + ceilingBytes + " and " + ceilingObjects);
        }
        if (ceilingBytes < guaranteedBytes) {
            throw new IllegalArgumentException("the ceiling of " + ceilingBytes + " bytes is below the guarantee of "
                    + guaranteedBytes + "; raise the one or lower the other");
        }
    }

    /** The same with higher ceilings, where there are any. */
    public Quota raisedBy(long objects, long bytes) {
        return new Quota(guaranteedBytes, sum(ceilingBytes, bytes), sum(ceilingObjects, objects));
    }

    private static long sum(long ceiling, long more) {
        return ceiling > UNLIMITED - more ? UNLIMITED : ceiling + more;
    }

    /** Whether there is a ceiling of any kind. */
    public boolean isLimited() {
        return ceilingBytes != UNLIMITED || ceilingObjects != UNLIMITED;
    }
}
