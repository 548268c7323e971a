// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

/**
 * How a leadership came about, for people. Times are of the elector's clock, in milliseconds.
 *
 * @param from name of the master that led before; empty when this one has not seen it
 * @param sinceMs when this master learnt that there was no leader any more; for EXPIRED and SILENT the last sign of life it saw
 * @param takenMs when the Lease was taken
 */
public record Succession(Cause cause, String from, long sinceMs, long takenMs) {
    public static final Succession NONE = new Succession(Cause.FIRST, "", 0, 0);

    /** Why the Lease could be taken. */
    public enum Cause {
        /** Nobody ever led. */
        FIRST,
        /** The leader gave it back: it was stopped, or handed over. */
        RELEASED,
        /** Others said that the leader is gone, and a look confirmed it. */
        DIED,
        /** The leader hung or was cut off: most nodes heard nothing of it, it did not answer, and did not renew the Lease for a while. */
        SILENT,
        /** The leader did not renew it for its duration. */
        EXPIRED,
        /** The Lease itself was gone. */
        DELETED,
        /** The same master leads again, under a higher epoch: it renewed too late, or nodes obeyed a higher one. */
        RAISED
    }

    /** From when nobody led, as far as this master knew, until it took the Lease. */
    public long waitedMs() {
        return Math.max(0, takenMs - sinceMs);
    }

    Succession takenAt(long nowMs) {
        return new Succession(cause, from, sinceMs, nowMs);
    }
}
