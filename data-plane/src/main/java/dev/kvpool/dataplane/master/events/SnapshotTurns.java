// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What all snapshots together cost the core: one part of one snapshot at a time waits for it, however many subscribers read snapshots, so a
 * put, a heartbeat or a handover is behind one part at most. They take turns, and callers of one tenant have one snapshot at a time.
 */
final class SnapshotTurns {
    /** One part of a snapshot, which the core builds meanwhile. */
    interface Part<T> {
        T await() throws InterruptedException, ExecutionException, TimeoutException;
    }

    private final Semaphore core = new Semaphore(1, true);
    private final Set<Tenant> under = ConcurrentHashMap.newKeySet();

    /** Whether this one may not {@link #begin}. */
    boolean isBusy(Subscriber subscriber) {
        return subscriber.caller().filter(under::contains).isPresent();
    }

    /** Takes the one snapshot of the caller's tenant; false when it is taken. Operators may have several. */
    boolean begin(Subscriber subscriber) {
        return subscriber.caller().isEmpty() || under.add(subscriber.caller().get());
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
