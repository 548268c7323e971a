// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;

/**
 * A batch of transfers that was submitted, and may still run. Until it is over the library uses the local memory of its
 * lines, which the caller keeps alive. Safe for use by many threads.
 *
 * <p>Close it, or ask until it is over: what the library needs of it is freed then, and it counts against the engine's
 * bound of lines before that.
 */
public final class TransferBatch implements AutoCloseable {
    private static final int WAIT_SLICE_MS = 100;

    private final Wait wait;
    private final Arena arena;
    private final TransferTable table;
    private final ReentrantLock asking = new ReentrantLock();
    private volatile Optional<List<Status>> statuses = Optional.empty();

    /** Asks the engine for the batch: KV_OK when it is over, KV_TIMEOUT when it is not after so long. */
    interface Wait {
        /**
         * Waits at most so long.
         *
         * @throws KvException KV_CLOSED when the engine is closed, which has ended the batch
         */
        int apply(int timeoutMs);
    }

    /** @param arena shared, with the table in it; this closes it */
    TransferBatch(Wait wait, Arena arena, TransferTable table) {
        this.wait = wait;
        this.arena = arena;
        this.table = table;
    }

    /** What became of each line, in their order; empty while the batch runs. Does not wait. */
    public Optional<List<Status>> statuses() {
        if (statuses.isEmpty() && asking.tryLock()) { // else somebody waits, and will tell
            try {
                ask(0);
            } finally {
                asking.unlock();
            }
        }
        return statuses;
    }

    /** Waits for the end, which the timeout of the batch bounds; what became of each line, in their order. */
    public List<Status> await() {
        asking.lock();
        try {
            while (statuses.isEmpty()) {
                ask(WAIT_SLICE_MS); // in slices: a single long wait would keep the engine's close() from getting
                // through
            }
            return statuses.get();
        } finally {
            asking.unlock();
        }
    }

    /** Waits for the end, as {@link #await} does: a batch cannot be taken back. The second time does nothing. */
    @Override
    public void close() {
        await();
    }

    private void ask(int timeoutMs) {
        if (statuses.isEmpty() && isOver(timeoutMs)) {
            statuses = Optional.of(IntStream.range(0, table.count())
                    .mapToObj(i -> Status.of(table.statusCode(i)))
                    .toList());
            arena.close();
        }
    }

    private boolean isOver(int timeoutMs) {
        try {
            return wait.apply(timeoutMs) == Status.OK.code();
        } catch (KvException e) {
            if (e.status() == Status.CLOSED) {
                return true; // the engine wrote KV_CLOSED to each line that was not done
            }
            throw e;
        }
    }
}
