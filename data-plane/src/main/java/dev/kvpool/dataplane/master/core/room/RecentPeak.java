// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.room;

import dev.kvpool.dataplane.master.core.base.Bounds;

/** The most that an amount has been lately, or that was added within {@link Bounds#DEMAND_MS}; it is forgotten by halves. */
public final class RecentPeak {
    private final double halvesMs;
    private double peak;
    private long sum;
    private long beganMs = Long.MIN_VALUE;

    public RecentPeak(long halvesMs) {
        this.halvesMs = halvesMs;
    }

    public void add(long amount) {
        sum += amount;
    }

    public void was(long amount) {
        peak = Math.max(peak, (double) amount);
    }

    public void tick(long nowMs) {
        if (beganMs == Long.MIN_VALUE) {
            beganMs = nowMs;
        }
        long passedMs = nowMs - beganMs;
        if (passedMs >= Bounds.DEMAND_MS) {
            peak = Math.max((double) sum, peak * Math.pow(0.5, passedMs / halvesMs));
            sum = 0;
            beganMs = nowMs;
        }
    }

    public long most() {
        return Math.max(Math.round(peak), sum);
    }
}
