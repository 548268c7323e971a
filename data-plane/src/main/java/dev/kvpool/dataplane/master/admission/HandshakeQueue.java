// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import dev.kvpool.dataplane.health.Defects;
import io.netty.channel.Channel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The work of handshakes, on threads of its own. Those that have begun go on first; of addresses that were authenticated before and of others one
 * begins in turn, the newest of each, so that neither a flood of strangers nor a client with a certificate that comes again and again keeps new
 * processes or known ones out. Connections that are gone cost nothing. Proofs of certificates on connections that are there take every other turn at most: they can wait, and must not stop handshakes, nor these them. When more come than can be served, their oldest have used up most of the time that a handshake may take: served in the order in
 * which they came, each would be given up soon after its turn.
 */
final class HandshakeQueue implements AutoCloseable {
    /** More cannot wait for their first turn, but for those that are gone. */
    static final int OPEN_MAX = 512;

    private static final Logger LOG = LoggerFactory.getLogger(HandshakeQueue.class);

    private record Step(Channel connection, Runnable task) {
        boolean isGone() {
            return !connection.isOpen();
        }
    }

    private final Defects defects;
    private final List<Thread> threads;
    private final Deque<Step> begun = new ArrayDeque<>();
    private final Deque<Step> known = new ArrayDeque<>();
    private final Deque<Step> waiting = new ArrayDeque<>();
    private final Deque<Step> proofs = new ArrayDeque<>();
    private boolean provedLast;
    private boolean knownBeganLast;

    HandshakeQueue(int threads, Defects defects) {
        this.defects = defects;
        ThreadFactory factory =
                Thread.ofPlatform().daemon().name("handshake-", 0).factory();
        this.threads = Stream.generate(() -> factory.newThread(this::work))
                .limit(threads)
                .toList();
        this.threads.forEach(Thread::start);
    }

    /**
     * Where the steps of one connection's handshake go, one after the other.
     *
     * @param isKnown whether a peer of its address was authenticated before
     */
    Executor of(Channel connection, boolean isKnown) {
        return new Executor() {
            private boolean hasBegun;

            @Override
            public void execute(Runnable task) {
                if (hasBegun) {
                    goOn(new Step(connection, task));
                } else {
                    begin(new Step(connection, task), isKnown ? known : waiting);
                }
                hasBegun = true;
            }
        };
    }

    /** Where proofs of certificates go of a connection whose peer is authenticated; at most two such steps wait for each. */
    Executor ofProofs(Channel connection) {
        return task -> prove(new Step(connection, task));
    }

    /**
     * Each open handshake has one step here at a time, so what waits beyond their number is of connections that are gone; the newest go first, so
     * these would never come to their turn while others come.
     */
    private synchronized void begin(Step step, Deque<Step> line) {
        if (line.size() >= OPEN_MAX) {
            line.removeIf(Step::isGone);
        }
        line.addFirst(step);
        notify();
    }

    private synchronized void goOn(Step step) {
        begun.addLast(step);
        notify();
    }

    private synchronized void prove(Step step) {
        proofs.addLast(step);
        notify();
    }

    private void work() {
        try {
            while (true) {
                run(take());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the end of the queue
        }
    }

    /** What goes wrong in a handshake its handler tells; what it does not expect must not end the thread. */
    private void run(Step step) {
        try {
            step.task().run();
        } catch (RuntimeException e) {
            LOG.warn("A step of the handshake with {} failed", step.connection().remoteAddress(), e);
        } catch (Error e) {
            defects.found("an error in a handshake", e);
        }
    }

    private synchronized Step take() throws InterruptedException {
        while (true) {
            Step step = next();
            if (step == null) {
                wait();
            } else if (!step.isGone()) {
                return step;
            }
        }
    }

    private Step next() {
        Step handshake = provedLast || proofs.isEmpty() ? nextOfHandshakes() : null;
        provedLast = handshake == null && !proofs.isEmpty();
        return provedLast ? proofs.pollFirst() : handshake;
    }

    private Step nextOfHandshakes() {
        if (!begun.isEmpty()) {
            return begun.pollFirst();
        }
        boolean isTurnOfKnown = waiting.isEmpty() || !(knownBeganLast || known.isEmpty());
        knownBeganLast = isTurnOfKnown;
        return isTurnOfKnown ? known.pollFirst() : waiting.pollFirst();
    }

    /** Steps that wait. */
    synchronized int size() {
        return begun.size() + known.size() + waiting.size() + proofs.size();
    }

    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
    }
}
