// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What all snapshots together cost the core: one part of one snapshot at a time waits for it, however many subscribers read snapshots, so a
 * put, a heartbeat or a handover is behind one part at most. They take turns, and callers of one tenant have one snapshot at a time, which must
 * come to its end when another of them waits.
 */
final class SnapshotTurns {
    /** One part of a snapshot, which the core builds meanwhile. */
    interface Part<T> {
        T await() throws InterruptedException, ExecutionException, TimeoutException;
    }

    /** So long a snapshot may take while another caller of its tenant waits: some times what a reader of a million objects needs. */
    static final long WHILE_ANOTHER_WAITS_MS = 120_000;

    /** The one snapshot of a tenant, and whether another caller has been told to wait for it. */
    private record Turn(long beganMs, AtomicBoolean awaited) {}

    private final Semaphore core = new Semaphore(1, true);
    private final Map<Tenant, Turn> under = new ConcurrentHashMap<>();

    /** Whether this one may not {@link #begin}, but is to wait. */
    boolean isBusy(Subscriber subscriber) {
        return turn(subscriber).map(this::await).orElse(false);
    }

    /** Takes the one snapshot of the caller's tenant; false when it is taken. Operators may have several. */
    boolean begin(Subscriber subscriber, long nowMs) {
        return subscriber
                .caller()
                .map(tenant -> under.putIfAbsent(tenant, new Turn(nowMs, new AtomicBoolean())))
                .map(other -> !await(other))
                .orElse(true);
    }

    /** Whether it has taken long enough, as another one waits. */
    boolean isOver(Subscriber subscriber, long nowMs) {
        return turn(subscriber)
                .filter(turn -> turn.awaited().get() && nowMs - turn.beganMs() > WHILE_ANOTHER_WAITS_MS)
                .isPresent();
    }

    private Optional<Turn> turn(Subscriber subscriber) {
        return subscriber.caller().map(under::get);
    }

    private boolean await(Turn other) {
        other.awaited().set(true);
        return true;
    }

    /** Gives it back. */
    void end(Subscriber subscriber) {
        subscriber.caller().ifPresent(under::remove);
    }

    /**
     * Has the core build one part, when those that waited before have theirs.
     *
     * @throws TimeoutException when they have not in time
     */
    <T> T next(Part<T> part, long secondsMax) throws InterruptedException, ExecutionException, TimeoutException {
        if (!core.tryAcquire(secondsMax, TimeUnit.SECONDS)) {
            throw new TimeoutException("the parts of other snapshots are not built");
        }
        try {
            return part.await();
        } finally {
            core.release();
        }
    }
}
