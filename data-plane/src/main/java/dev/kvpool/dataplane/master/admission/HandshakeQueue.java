// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The work of handshakes, on threads of its own. Those that have begun go on first; of the others the newest begins, and connections that are gone
 * cost nothing. When more come than can be served, their oldest have used up most of the time that a handshake may take: served in the order in
 * which they came, each would be given up soon after its turn.
 */
final class HandshakeQueue implements AutoCloseable {
    private record Step(Channel connection, Runnable task) {}

    private final ExecutorService threads;
    private final Deque<Step> begun = new ArrayDeque<>();
    private final Deque<Step> waiting = new ArrayDeque<>();

    /** What waits is bounded by the handshakes that may be open: each has one step at a time. */
    HandshakeQueue(int threads) {
        this.threads = Executors.newFixedThreadPool(
                threads, Thread.ofPlatform().daemon().name("handshake-", 0).factory());
    }

    /** Where the steps of one connection's handshake go, one after the other. */
    Executor of(Channel connection) {
        return new Executor() {
            private boolean hasBegun;

            @Override
            public void execute(Runnable task) {
                add(new Step(connection, task), hasBegun);
                hasBegun = true;
            }
        };
    }

    private void add(Step step, boolean hasBegun) {
        synchronized (this) {
            if (hasBegun) {
                begun.addLast(step);
            } else {
                waiting.addFirst(step);
            }
        }
        threads.execute(this::runNext);
    }

    /** Once for each step that was added; those that are left out leave later calls without one. */
    private void runNext() {
        for (Step step = next(); step != null; step = next()) {
            if (step.connection().isOpen()) {
                step.task().run();
                return;
            }
        }
    }

    private synchronized Step next() {
        Step step = begun.pollFirst();
        return step == null ? waiting.pollFirst() : step;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
