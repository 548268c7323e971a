// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The thread of an {@link Elector}: Lease calls may block and must not hold up anybody else. */
public final class ElectorThread implements AutoCloseable {
    private static final long CLOSE_MS_MAX = 5_000;

    private final Elector elector;
    private final long periodMs;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition asked = lock.newCondition();
    private long raiseAbove;
    private boolean closing;
    private boolean lookNow;

    public ElectorThread(Elector elector, long periodMs) {
        this.elector = elector;
        this.periodMs = periodMs;
        this.thread = Thread.ofPlatform().name("elector").daemon().unstarted(this::run);
    }

    public ElectorThread start() {
        thread.start();
        return this;
    }

    /** Take an epoch above this one, at once. */
    public void raiseAbove(long epoch) {
        lock.lock();
        try {
            raiseAbove = Math.max(raiseAbove, epoch);
            lookNow = true;
            asked.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Gives the Lease back, so that another master takes over at once, and ends. */
    @Override
    public void close() {
        lock.lock();
        try {
            closing = true;
            asked.signal();
        } finally {
            lock.unlock();
        }
        try {
            thread.join(CLOSE_MS_MAX);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (true) {
            long wish;
            boolean releasing;
            lock.lock();
            try {
                wish = raiseAbove;
                releasing = closing;
                lookNow = false;
            } finally {
                lock.unlock();
            }
            boolean granted = elector.round(wish, releasing);
            if (releasing) {
                return;
            }
            rest(wish, granted);
        }
    }

    private void rest(long wish, boolean granted) {
        lock.lock();
        try {
            if (granted && raiseAbove == wish) {
                raiseAbove = 0;
            }
            long leftNanos = TimeUnit.MILLISECONDS.toNanos(periodMs);
            while (leftNanos > 0 && !closing && !lookNow) {
                leftNanos = asked.awaitNanos(leftNanos);
            }
        } catch (InterruptedException e) {
            // Nobody interrupts this thread but the end of the process.
            closing = true;
        } finally {
            lock.unlock();
        }
    }
}
