// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import dev.kvpool.dataplane.master.core.tenant.TenantAccounts.Balance;

/** Whether a tenant may be granted more. */
public enum Admission {
    /** It stays at or below its ceilings. */
    FITS,
    /** It would if it had less stored. */
    AFTER_EVICTION,
    /** What is being put, and this, are above a ceiling by themselves: it may fit when puts have ended. */
    AFTER_PUTS,
    /** It is above a ceiling by itself. */
    NEVER;

    /**
     * Judges.
     *
     * @param has what is stored and granted
     * @param objects more than that; 0, with 0 bytes, asks whether anything stored has to go
     * @param bytes more than that, of all copies
     */
    public static Admission of(Quota quota, Balance has, long objects, long bytes) {
        Admission byBytes = of(quota.ceilingBytes(), has.grantedBytes(), has.bytes(), bytes);
        Admission byObjects = of(quota.ceilingObjects(), has.grantedObjects(), has.objects(), objects);
        return byBytes.compareTo(byObjects) > 0 ? byBytes : byObjects;
    }

    private static Admission of(long ceiling, long granted, long stored, long more) {
        if (ceiling == Quota.UNLIMITED) {
            return FITS;
        }
        long room = ceiling - granted; // neither is negative, so this does not overflow
        if (more > 0 && more > room) {
            return more > ceiling ? NEVER : AFTER_PUTS;
        }
        return stored <= Math.max(0, room - more) ? FITS : AFTER_EVICTION;
    }
}
