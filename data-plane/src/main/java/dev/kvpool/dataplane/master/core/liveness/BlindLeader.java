// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.base.Bounds;

/**
 * When a leader that fewer than half of the nodes reach, while it renews its Lease, gives that away: nodes may reach another master. That takes it
 * which sees more. Where none does a blind one leads again, this one maybe, and none for some seconds before: so the next time is behind a
 * rest that doubles.
 *
 * <p>It does so soon when another master looks for it, as one does that most nodes tell of its silence. Without that the nodes are rather down, or the
 * masters do not reach each other: then it does so when none is connected, which would be served, and waits for longer. It never does so where it has not seen another master, nor while it is new and
 * nodes are looking for it. One that begins to lead blind rests first: none that sees more has taken the Lease while it was free. Has no
 * clock of its own.
 */
public final class BlindLeader {
    private static final long NEVER = Long.MIN_VALUE;

    private final long leaseDurationMs;
    private boolean otherMasterSeen;
    private long lookedForMs = NEVER / 2;
    private boolean sawEnough;
    private boolean led;
    private long firstLookMs = NEVER;

    /** Since when it leads and sees too little, or enough. */
    private long blindSinceMs = NEVER;

    /** Since when it leads and sees none. */
    private long noneSinceMs = NEVER;

    private long sightedSinceMs = NEVER;

    private long restUntilMs = NEVER;
    private long restMs = Bounds.BLIND_REST_MS_MIN;

    public BlindLeader(long leaseDurationMs) {
        this.leaseDurationMs = leaseDurationMs;
    }

    /** There is another master of this pool, or was. */
    public void otherMasterSeen() {
        otherMasterSeen = true;
    }

    /** Another master looks for this leader. */
    public void lookedFor(long nowMs) {
        otherMasterSeen = true;
        lookedForMs = nowMs;
    }

    /**
     * To be called again and again.
     *
     * @param leads whether this master does
     * @param seen how many of the nodes are connected
     * @param ofEngines whether there are no others: they are struck off the register soon
     * @return whether the leadership is to be handed over now; said once each time
     */
    public boolean look(boolean leads, Reach.Seen seen, boolean ofEngines, long nowMs) {
        firstLookMs = firstLookMs == NEVER ? nowMs : firstLookMs;
        boolean seesEnough = seen == Reach.Seen.ENOUGH;
        sawEnough |= seesEnough;
        boolean begins = leads && !led;
        led = leads;
        if (!leads || seesEnough) {
            blindSinceMs = NEVER;
            noneSinceMs = NEVER;
            sighted(leads, nowMs);
            return false;
        }
        sightedSinceMs = NEVER;
        if (begins && nowMs >= restUntilMs) {
            rest(nowMs);
        }
        blindSinceMs = blindSinceMs == NEVER ? nowMs : blindSinceMs;
        noneSinceMs = seen == Reach.Seen.FEW ? NEVER : noneSinceMs == NEVER ? nowMs : noneSinceMs;
        boolean hasToGo = otherMasterSeen
                && mayBeKnown(nowMs)
                && (isMissed(nowMs) || isOfNoUse(ofEngines, nowMs))
                && nowMs >= restUntilMs;
        if (hasToGo) {
            rest(nowMs);
        }
        return hasToGo;
    }

    /** Nodes tell of a silent leader until they give its connection up, which it hears of at about the same time. */
    private boolean isMissed(long nowMs) {
        return lookedForMs >= blindSinceMs - Bounds.BLIND_LOOKED_FOR_MS && nowMs - blindSinceMs > leaseDurationMs;
    }

    private boolean isOfNoUse(boolean ofEngines, long nowMs) {
        long patienceMs = ofEngines
                ? Math.min(leaseDurationMs, Bounds.BLIND_OF_ENGINES_MS)
                : Math.max(leaseDurationMs, Bounds.BLIND_ALONE_MS);
        return noneSinceMs != NEVER && nowMs - noneSinceMs > patienceMs;
    }

    /** For how long it has seen too little. */
    public long blindForMs(long nowMs) {
        return blindSinceMs == NEVER ? 0 : nowMs - blindSinceMs;
    }

    /** Nodes ask for a master that is new to them now and then. */
    private boolean mayBeKnown(long nowMs) {
        return sawEnough || nowMs - firstLookMs >= Bounds.FIRST_NODE_WAIT_MS;
    }

    private void rest(long nowMs) {
        restUntilMs = nowMs + restMs;
        restMs = Math.min(2 * restMs, Bounds.BLIND_REST_MS_MAX);
    }

    /** One that led and saw enough for as long as it would rest next begins with the shortest rest again. */
    private void sighted(boolean leads, long nowMs) {
        if (!leads) {
            sightedSinceMs = NEVER;
            return;
        }
        sightedSinceMs = sightedSinceMs == NEVER ? nowMs : sightedSinceMs;
        if (nowMs - sightedSinceMs >= restMs) {
            restMs = Bounds.BLIND_REST_MS_MIN;
        }
    }
}
