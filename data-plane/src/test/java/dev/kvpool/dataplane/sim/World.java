// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/** Simulated time: everything that happens is an event on one queue, run by one thread. One seed gives one run. */
final class World {
    private static final int TRACE_LINES = 4000;

    private record Event(long atMs, long order, Runnable what) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(atMs, other.atMs);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    final long seed;
    final SplittableRandom random;
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final boolean tracing = Boolean.getBoolean("kvpool.sim.trace");
    private final Deque<String> trace = new ArrayDeque<>();
    private long nowMs = 1_000_000;
    private long order;
    private long digest;

    World(long seed) {
        this.seed = seed;
        this.random = new SplittableRandom(seed);
    }

    long nowMs() {
        return nowMs;
    }

    void in(long delayMs, Runnable what) {
        order++;
        events.add(new Event(nowMs + Math.max(0, delayMs), order, what));
    }

    /** Lets time pass. */
    void run(long durationMs) {
        long untilMs = nowMs + durationMs;
        while (!events.isEmpty() && events.peek().atMs <= untilMs) {
            Event event = events.remove();
            nowMs = event.atMs;
            event.what.run();
        }
        nowMs = untilMs;
    }

    boolean oneIn(int n) {
        return random.nextInt(n) == 0;
    }

    long between(long low, long high) {
        return random.nextLong(low, high + 1);
    }

    /** What a process was told: the sum of it all tells two runs apart. */
    void happened(long where, byte[] what) {
        digest = digest * 0x9E37_79B9_7F4A_7C15L + nowMs * 31 + where * 17 + Arrays.hashCode(what);
    }

    long digest() {
        return digest;
    }

    /** A line for whoever looks at a failed run; the latest are kept with {@code -Dkvpool.sim.trace=true}. */
    void trace(Supplier<String> line) {
        if (tracing) {
            if (trace.size() == TRACE_LINES) {
                trace.remove();
            }
            trace.add("%8d  %s".formatted(nowMs - 1_000_000, line.get()));
        }
    }

    String traced() {
        return String.join("\n", trace);
    }
}
