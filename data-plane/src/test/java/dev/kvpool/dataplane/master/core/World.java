// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;

/** Simulated time and network: everything that happens is an event on one queue, run by one thread. */
final class World {
    private record Event(long atMs, long order, Runnable what) {}

    final Random random;
    private final PriorityQueue<Event> events =
            new PriorityQueue<>(Comparator.comparingLong(Event::atMs).thenComparingLong(Event::order));
    private final int delayMsMax;
    private final Map<String, ModelNode> endpoints = new HashMap<>();
    private long nowMs = 1_000_000;
    private long order;

    /** @param delayMsMax the longest time a message is under way; 0 delivers at once, in order */
    World(long seed, int delayMsMax) {
        this.random = new Random(seed);
        this.delayMsMax = delayMsMax;
    }

    /** Where a node's data endpoint is. */
    void listen(String endpoint, ModelNode node) {
        endpoints.put(endpoint, node);
    }

    ModelNode byEndpoint(String endpoint) {
        return endpoints.get(endpoint);
    }

    long nowMs() {
        return nowMs;
    }

    long delayMs() {
        return delayMsMax == 0 ? 0 : random.nextInt(delayMsMax + 1);
    }

    void at(long atMs, Runnable what) {
        order++;
        events.add(new Event(Math.max(atMs, nowMs), order, what));
    }

    void in(long delayMs, Runnable what) {
        at(nowMs + delayMs, what);
    }

    /** Runs a task again and again, for ever. */
    void every(long periodMs, Runnable task) {
        in(periodMs, () -> {
            task.run();
            every(periodMs, task);
        });
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
}
