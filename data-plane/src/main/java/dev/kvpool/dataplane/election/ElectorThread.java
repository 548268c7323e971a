// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.election.Wishes.RegisterWish;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The thread of an {@link Elector}: Lease calls may block and must not hold up anybody else. */
public final class ElectorThread implements AutoCloseable {
    private static final long CLOSE_MS_MAX = 5_000;

    /** A core that was late, as by a pause of the collector, must not cost the Lease: it is looked at so often until it turns. */
    private static final long HELD_UP_LOOK_MS = 20;

    private final Elector elector;
    private final long periodMs;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition asked = lock.newCondition();
    private long raiseAbove;
    private Authority gone = Authority.NONE;
    private long goneSinceMs;
    private Authority silent = Authority.NONE;
    private long silentAtMs;
    private Optional<RegisterWish> store = Optional.empty();
    private boolean closing;
    private boolean lookNow;
    private HandOver handOver;

    /** A wish to be led by somebody else: until then this candidate gives the Lease back and does not take it. */
    private record HandOver(Authority ours, long untilNanos, CompletableFuture<Void> released) {}

    /** @param onDefect hears of what ends this thread: without it a master would neither lead nor say so */
    public ElectorThread(Elector elector, long periodMs, Thread.UncaughtExceptionHandler onDefect) {
        this.elector = elector;
        this.periodMs = periodMs;
        this.thread = Thread.ofPlatform()
                .name("elector")
                .daemon()
                .uncaughtExceptionHandler(onDefect)
                .unstarted(this::run);
    }

    public ElectorThread start() {
        thread.start();
        return this;
    }

    /** Take an epoch above this one, at once. */
    public void raiseAbove(long epoch) {
        ask(() -> raiseAbove = Math.max(raiseAbove, epoch));
    }

    /** Store this register at once, as long as we lead under this authority. The last one asked for counts. */
    public void store(Authority ours, Register register) {
        ask(() -> store = Optional.of(new RegisterWish(ours, register)));
    }

    /** The Lease may have been given back: look at it now. */
    public void look() {
        ask(() -> {});
    }

    /** The holder of this authority is gone for sure, since then: if the Lease still names it, take it now. */
    public void take(Authority from, long sinceMs) {
        ask(() -> {
            gone = from;
            goneSinceMs = sinceMs;
        });
    }

    /** The holder of this authority was silent then: if the Lease still names it, and was not renewed just before, take it now. */
    public void takeSilent(Authority from, long atMs) {
        if (elector.mayBeSilent(atMs)) {
            ask(() -> {
                silent = from;
                silentAtMs = atMs;
            });
        }
    }

    /**
     * Gives the Lease back and leaves it to others for a while. When it could not be given back, or nobody took it, this
     * candidate leads again, with a higher epoch than before.
     *
     * @return done when the Lease is no longer ours
     */
    public CompletableFuture<Void> handOver(Authority ours, long abstainMs) {
        long untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(abstainMs);
        HandOver wanted = new HandOver(ours, untilNanos, new CompletableFuture<>());
        ask(() -> handOver = wanted);
        return wanted.released();
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
            if (wishes.release() && isClosing()) {
                return;
            }
            rest(wishes, granted);
        }
    }

    private Wishes next() {
        lock.lock();
        try {
            lookNow = false;
            if (handOver != null && System.nanoTime() - handOver.untilNanos() >= 0) {
                // Whoever asked has stopped leading: should the Lease still be ours, this must be a new leadership.
                raiseAbove = Math.max(raiseAbove, handOver.ours().epoch());
                handOver = null;
            }
            return new Wishes(raiseAbove, closing || handOver != null, gone, goneSinceMs, silent, silentAtMs, store);
        } finally {
            lock.unlock();
        }
    }

    private boolean isClosing() {
        lock.lock();
        try {
            return closing;
        } finally {
            lock.unlock();
        }
    }

    private void rest(Wishes wishes, boolean granted) {
        lock.lock();
        try {
            if (handOver != null && wishes.release() && elector.reachedLease()) {
                handOver.released().complete(null);
            }
            if (elector.hasStored(wishes) && store.equals(wishes.store())) {
                store = Optional.empty();
            }
            if (granted && raiseAbove == wishes.raiseAbove()) {
                raiseAbove = 0;
            }
            boolean looked = elector.reachedLease() && !elector.leavesToOthers() && !elector.isHeldUp();
            if (looked && gone.equals(wishes.gone())) {
                gone = Authority.NONE; // taken, or it names somebody else by now
            }
            if (looked && silentAtMs == wishes.silentAtMs()) {
                silent = Authority.NONE;
            }
            long leftNanos = TimeUnit.MILLISECONDS.toNanos(periodMs);
            long partNanos = elector.isHeldUp() ? TimeUnit.MILLISECONDS.toNanos(HELD_UP_LOOK_MS) : leftNanos;
            while (leftNanos > 0 && !closing && !lookNow && !(elector.isHeldUp() && elector.coreTurns())) {
                long restNanos = Math.max(0, leftNanos - partNanos);
                leftNanos = restNanos + asked.awaitNanos(leftNanos - restNanos);
            }
        } catch (InterruptedException e) {
            // Nobody interrupts this thread but the end of the process.
            closing = true;
        } finally {
            lock.unlock();
        }
    }
}
