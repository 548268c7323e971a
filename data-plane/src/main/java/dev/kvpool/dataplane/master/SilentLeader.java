// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.master.LeaderProbe.Finding;
import dev.kvpool.dataplane.wire.message.Authority;

/**
 * What a standby does about a leader that most nodes do not hear: it dials it before that is proved, so that no time is lost, and
 * leaves one alone that answers. Without threads and clock of its own.
 */
public final class SilentLeader {
    /** What to do next. */
    public enum Step {
        NOTHING,
        /** Look at the Lease, to know later whether it changes, and dial the leader; then tell what was {@link #found}. */
        PROBE,
        /** Take the Lease, if it has not changed for long enough. */
        TAKE
    }

    /** How long a dial says something about the leader, and how soon another one follows. */
    private static final long FOUND_MS = 1_000;

    private static final long BETWEEN_PROBES_MS = 300;

    private Authority authority = Authority.NONE;
    private boolean probing;
    private boolean answered;
    private long foundMs = Long.MIN_VALUE / 2;

    /**
     * Most nodes do not hear the leader.
     *
     * @param proved it can only lead if it has just renewed its Lease
     */
    public synchronized Step silent(Authority leader, boolean proved, long nowMs) {
        if (!leader.equals(authority)) {
            authority = leader;
            probing = false;
            foundMs = Long.MIN_VALUE / 2;
        }
        boolean known = nowMs - foundMs <= FOUND_MS;
        if (proved && known && !answered) {
            return Step.TAKE;
        }
        if (probing || nowMs - foundMs < BETWEEN_PROBES_MS) {
            return Step.NOTHING;
        }
        probing = true;
        return Step.PROBE;
    }

    /** A dial of the leader has ended. */
    public synchronized void found(Authority leader, Finding finding, long nowMs) {
        if (leader.equals(authority)) {
            probing = false;
            answered = finding == Finding.THERE;
            foundMs = nowMs;
        }
    }
}
