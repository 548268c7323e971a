// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.health;

import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Ends a process whose thread of threads hangs, where no probe of Kubernetes does. It counts its own looks and not time, so that
 * a process which was stopped as a whole, or whose machine slept, goes on: it has missed the looks as well.
 */
public final class HangWatch implements AutoCloseable {
    static final long LOOK_MS = 1_000;

    /** Looks in a row between which the thread did no turn: more than any pause of the collector, less than a probe takes. */
    static final int LOOKS_MAX = 20;

    private final String who;
    private final LongSupplier ageMs;
    private final Supplier<StackTraceElement[]> position;
    private final Defects defects;
    private int looksWithoutTurn;
    private Thread thread;

    /**
     * Prepares to watch.
     *
     * @param who is watched, for the log
     * @param ageMs since its last turn
     * @param position where in the code it is, as far as that is known
     * @param defects told when it hangs
     */
    public HangWatch(String who, LongSupplier ageMs, Supplier<StackTraceElement[]> position, Defects defects) {
        this.who = who;
        this.ageMs = ageMs;
        this.position = position;
        this.defects = defects;
    }

    public HangWatch start() {
        thread = Thread.ofPlatform().name("hang-watch").daemon().start(this::run);
        return this;
    }

    @Override
    public void close() {
        if (thread != null) {
            thread.interrupt();
        }
    }

    private void run() {
        try {
            while (!look()) {
                Thread.sleep(LOOK_MS);
            }
        } catch (InterruptedException e) {
            // The process ends in order.
        }
    }

    /** One look; whether it was one too many. */
    boolean look() {
        looksWithoutTurn = ageMs.getAsLong() >= LOOK_MS ? looksWithoutTurn + 1 : 0;
        if (looksWithoutTurn < LOOKS_MAX) {
            return false;
        }
        IllegalStateException where = new IllegalStateException("this is where " + who + " hangs");
        where.setStackTrace(position.get());
        defects.found(who + " has done nothing for " + ageMs.getAsLong() + " ms", where);
        return true;
    }
}
