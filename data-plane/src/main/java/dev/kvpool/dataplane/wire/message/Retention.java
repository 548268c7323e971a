// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/**
 * What keeps an object from being evicted, given with its put and stored in its node's directory.
 *
 * @param soft evicted only when nothing else is left, until {@code softMs} after its last use
 * @param hard never evicted
 * @param softMs how long a soft pin lasts; 0 = the pool's default
 * @param group hash of the name of the group it belongs to, which is used and evicted together; 0 = none
 */
public record Retention(boolean soft, boolean hard, long softMs, long group) {
    public static final Retention NONE = new Retention(false, false, 0, 0);

    /** One instance for the objects without any, which are nearly all. */
    public static Retention of(boolean soft, boolean hard, long softMs, long group) {
        boolean none = !soft && !hard && softMs == 0 && group == 0;
        return none ? NONE : new Retention(soft, hard, softMs, group);
    }
}
