// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
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

    /** The Lease, for masters that are made leaders by hand: what it has, and who may change it. */
    private Register register = Register.NONE;

    private Authority leader = Authority.NONE;
    private boolean leaseIsOut;
    private final List<Runnable> untilItIsBack = new ArrayList<>();
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

    Register register() {
        return register;
    }

    /** Somebody takes the Lease, and learns the register. */
    Register taken(Authority by) {
        leader = by;
        return register;
    }

    /** Nobody reaches the Lease until this is over; writes are tried until then. */
    void cutLease(boolean on) {
        leaseIsOut = on;
        if (!on) {
            List<Runnable> late = List.copyOf(untilItIsBack);
            untilItIsBack.clear();
            late.forEach(it -> in(0, it));
        }
    }

    /** The Lease is deleted, or a person has changed it. */
    void setRegister(Register changed) {
        register = changed;
    }

    void store(Authority by, Register next, Runnable whenStored) {
        if (leaseIsOut) {
            untilItIsBack.add(() -> store(by, next, whenStored));
        } else if (by.equals(leader)) {
            register = next;
            whenStored.run();
        }
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
