// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import java.time.Duration;
import java.time.Instant;

/** One place in the local pool: what runs there now, and when it is started again. Used by one thread. */
final class Supervised {
    private final ChildSpec spec;
    private final RestartPolicy policy = new RestartPolicy();
    private Child child;
    private Instant startedAt;
    private Instant restartAt;

    Supervised(ChildSpec spec) {
        this.spec = spec;
    }

    ChildSpec spec() {
        return spec;
    }

    /** The process that runs or ran last. */
    Child child() {
        return child;
    }

    boolean isAlive() {
        return child != null && child.isAlive();
    }

    void started(Child started, Instant now) {
        child = started;
        startedAt = now;
        restartAt = null;
    }

    /** Forgets the dead process and plans its restart; false when it died too often. */
    boolean planRestart(Instant now) {
        policy.died(Duration.between(startedAt, now));
        restartAt = policy.givesUp() ? null : now.plus(policy.delay());
        child = null;
        return !policy.givesUp();
    }

    /** Forgets the dead process for good. */
    void leaveDead() {
        child = null;
        restartAt = null;
    }

    boolean hasDied() {
        return child != null && !child.isAlive();
    }

    boolean isDue(Instant now) {
        return restartAt != null && !restartAt.isAfter(now);
    }

    /** Whether something runs here or will again. */
    boolean hasFuture() {
        return isAlive() || restartAt != null;
    }
}
