// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A process of the pool: it lives, dies, starts again, and can be stopped for a while as by SIGSTOP. */
abstract class SimProcess {
    final World world;
    final Network network;
    final String name;
    /** Place of this process in the network's table of partitions. */
    final int place;

    private final Set<End> ends = new LinkedHashSet<>();
    private final Deque<Runnable> late = new ArrayDeque<>();
    private final long clockOffsetMs;
    private final int clockDriftPpm;
    private long life;
    private boolean up;
    private boolean frozen;
    /** Frozen, but for the threads beside the one that does the work. */
    private boolean hung;

    private long frozenMs;
    private long thawedMs;
    private long startedMs;
    private long diedMs;

    SimProcess(Network network, String name) {
        this.network = network;
        this.world = network.world;
        this.name = name;
        this.place = network.add(this);
        this.clockOffsetMs = world.between(0, 5_000_000);
        this.clockDriftPpm = (int) world.between(-network.driftPpm, network.driftPpm);
    }

    /** Time on this machine's clock, which shows another number than that of the others, and may go too fast or too slow. */
    final long clockMs() {
        return world.nowMs() + clockOffsetMs + world.nowMs() * clockDriftPpm / 1_000_000;
    }

    /** What the certificate says that this process shows; empty without one. */
    Optional<String> certified() {
        return Optional.empty();
    }

    final boolean isUp() {
        return up;
    }

    final boolean isFrozen() {
        return frozen;
    }

    /** When it last went on after it had been stopped. */
    final long thawedMs() {
        return thawedMs;
    }

    /** Whether it runs, has since then, and reached all others. */
    final boolean isWellSince(long ms) {
        return hears() && startedMs < ms && thawedMs < ms && network.isWholeSince(this, ms);
    }

    /** Whether it does not run, and has not since then. */
    final boolean isDeadSince(long ms) {
        return !up && diedMs < ms;
    }

    /** How long the thread that does the work has hung, while others of the process went on; 0 when it does not. */
    final long hungForMs() {
        return frozen && hung ? world.nowMs() - frozenMs : 0;
    }

    final boolean hears() {
        return up && !frozen;
    }

    /** Runs a task of this life; later if the process is stopped then, never if it is dead. */
    final void in(long delayMs, Runnable task) {
        in(delayMs, false, task);
    }

    /** The same on a thread of its own, which a hang of the other one does not hold up. */
    final void beside(long delayMs, Runnable task) {
        in(delayMs, true, task);
    }

    private void in(long delayMs, boolean beside, Runnable task) {
        long ofLife = life;
        world.in(delayMs, () -> {
            if (up && life == ofLife) {
                if (frozen && !(hung && beside)) {
                    late.add(task);
                } else {
                    task.run();
                }
            }
        });
    }

    final void every(long periodMs, Runnable task) {
        in(periodMs, () -> {
            task.run();
            every(periodMs, task);
        });
    }

    final void start() {
        life++;
        up = true;
        startedMs = world.nowMs();
        frozen = false;
        world.trace(() -> name + " starts");
        begin();
    }

    /** Dies as by SIGKILL: what it has sent may still arrive. */
    final void crash() {
        if (!up) {
            return;
        }
        world.trace(() -> name + " dies");
        up = false;
        diedMs = world.nowMs();
        frozen = false;
        late.clear();
        end();
        List<End> open = new ArrayList<>(ends);
        ends.clear();
        open.forEach(end -> end.vanish("connection reset: " + name + " died"));
    }

    /** Stops as by SIGSTOP. */
    final void freeze(long forMs) {
        freeze(forMs, false);
    }

    /** The thread that does the work hangs, and no other. */
    final void hang(long forMs) {
        freeze(forMs, true);
    }

    private void freeze(long forMs, boolean hangs) {
        if (up && !frozen) {
            frozen = true;
            hung = hangs;
            frozenMs = world.nowMs();
            world.trace(() -> name + (hangs ? " hangs" : " is stopped") + " for " + forMs + " ms");
            long ofLife = life;
            world.in(forMs, () -> {
                if (life == ofLife && frozen) {
                    thaw();
                }
            });
        }
    }

    final void thaw() {
        if (!frozen) {
            return;
        }
        world.trace(() -> name + " goes on");
        frozen = false;
        thawedMs = world.nowMs();
        // Sockets and timers are ready at once, and nobody promises which comes first.
        boolean timersFirst = world.oneIn(2);
        if (timersFirst) {
            runLate();
        }
        new ArrayList<>(ends).forEach(End::pump);
        runLate();
    }

    private void runLate() {
        while (!late.isEmpty() && hears()) {
            late.remove().run();
        }
    }

    final void attach(End end) {
        ends.add(end);
    }

    final void detach(End end) {
        ends.remove(end);
    }

    final List<End> ends() {
        return new ArrayList<>(ends);
    }

    /** A life begins. */
    abstract void begin();

    /** A life ended; connections end by themselves. */
    abstract void end();

    abstract void accepted(End end);

    abstract void opened(End end);

    abstract void dialFailed(End end, String reason, boolean refused);

    /** The connection ended on the other side, or on the way. */
    abstract void closed(End end, String reason);

    abstract void frame(End end, byte[] body);

    /** A frame came whose checksum is wrong: nothing more is taken from this connection. */
    void garbled(End end) {
        end.close();
        closed(end, "malformed bytes");
    }

    /** Part of a payload; {@code crc} counts with the last one. */
    abstract void payload(End end, byte[] bytes, long at, boolean last, int crc);

    @Override
    public String toString() {
        return name;
    }
}
