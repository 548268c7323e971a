// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.wire.message.Authority;
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
    private Authority gone = Authority.NONE;
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
        ask(() -> raiseAbove = Math.max(raiseAbove, epoch));
    }

    /** The Lease may have been given back: look at it now. */
    public void look() {
        ask(() -> {});
    }

    /** The holder of this authority is gone for sure: if the Lease still names it, take it now. */
    public void take(Authority from) {
        ask(() -> gone = from);
    }

    private void ask(Runnable wish) {
        lock.lock();
        try {
            wish.run();
            lookNow = true;
            asked.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Gives the Lease back, so that another master takes over at once, and ends. */
    @Override
    public void close() {
        ask(() -> closing = true);
        try {
            thread.join(CLOSE_MS_MAX);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (true) {
            Wishes wishes = next();
            boolean granted = elector.round(wishes);
            if (wishes.release()) {
                return;
            }
            rest(wishes, granted);
        }
    }

    private Wishes next() {
        lock.lock();
        try {
            lookNow = false;
            return new Wishes(raiseAbove, closing, gone);
        } finally {
            lock.unlock();
        }
    }

    private void rest(Wishes wishes, boolean granted) {
        lock.lock();
        try {
            if (granted && raiseAbove == wishes.raiseAbove()) {
                raiseAbove = 0;
            }
            if (elector.reachedLease() && gone.equals(wishes.gone())) {
                gone = Authority.NONE; // taken, or it names somebody else by now, or its holder lives after all
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
