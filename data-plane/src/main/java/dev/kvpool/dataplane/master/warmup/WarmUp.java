// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.warmup;

import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.secure.TlsContext;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has Java compile what a leader does all day before there is anything to do: works on a {@link ScratchPool}, and shakes hands with
 * itself where there is TLS, from the start of the process on, beside everything else and for a limited processor time; and again when many
 * peers have come. What they do differs from what the code was compiled for: Java takes it back, and would compile it when the next messages
 * come, which are those of a takeover. Neither the pool nor any number of it knows.
 */
public final class WarmUp implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);
    private static final long PAUSE_MS = 10;
    static final long LOOK_MS = 500;

    /** So many handshakes cost a part of what the warm-up after them does. */
    static final long MANY = 64;

    /** Where peers come and go all the time. */
    private static final long REST_MS = 600_000;

    private final CoreSettings rules;
    private final LongSupplier clockMs;
    private final Duration budget;
    private final BooleanSupplier busy;
    private final BooleanSupplier takesOver;
    private final LongSupplier opened;
    private final Supplier<Optional<TlsContext>> tls;
    private final Thread thread;
    private volatile boolean closing;
    private volatile int batches;
    private volatile int handshakes;
    private volatile int times;

    private WarmUp(
            CoreSettings rules,
            LongSupplier clockMs,
            Duration budget,
            BooleanSupplier busy,
            BooleanSupplier takesOver,
            LongSupplier opened,
            Supplier<Optional<TlsContext>> tls) {
        this.rules = rules;
        this.clockMs = clockMs;
        this.budget = budget;
        this.busy = busy;
        this.takesOver = takesOver;
        this.opened = opened;
        this.tls = tls;
        thread = Thread.ofPlatform().name("warm-up").daemon().unstarted(this::run);
    }

    /**
     * Begins in a thread of its own.
     *
     * @param budget processor time of that thread each time, and as much again with TLS; with nothing there is no warm-up
     * @param busy whether the master has something to do that must not wait; the warm-up waits meanwhile
     * @param takesOver whether the master's role has changed lately: the peers that have come then are those of a takeover, which is not to
     *     be disturbed; what came before waits, too, except for the first time
     * @param opened how many connections there have been
     * @param tls that of the data port; empty: plain
     */
    public static WarmUp start(
            CoreSettings rules,
            LongSupplier clockMs,
            Duration budget,
            BooleanSupplier busy,
            BooleanSupplier takesOver,
            LongSupplier opened,
            Supplier<Optional<TlsContext>> tls) {
        WarmUp warmUp = new WarmUp(rules, clockMs, budget, busy, takesOver, opened, tls);
        if (budget.isPositive()) {
            warmUp.thread.start();
        }
        return warmUp;
    }

    private void run() {
        try {
            long known = opened.getAsLong();
            boolean works = work(busy);
            int done = 1;
            times = done;
            long seen = known;
            OptionalLong againMs = OptionalLong.empty();
            while (works && !closing) {
                Thread.sleep(LOOK_MS);
                long now = opened.getAsLong();
                boolean rests = againMs.isPresent() && clockMs.getAsLong() - againMs.getAsLong() < REST_MS;
                if (now - known >= MANY && now == seen && !rests && !takesOver.getAsBoolean()) {
                    known = now;
                    againMs = OptionalLong.of(clockMs.getAsLong());
                    works = work(() -> busy.getAsBoolean() || takesOver.getAsBoolean());
                    done++;
                    times = done;
                }
                seen = now;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether it may be done again: not when it has a defect, which would be there the next time as well. */
    private boolean work(BooleanSupplier waits) throws InterruptedException {
        long begunMs = clockMs.getAsLong();
        int done = 0;
        int shaken = 0;
        Optional<TlsContext> secure = tls.get();
        long endNs = processorNs() + budget.toNanos() * (secure.isPresent() ? 2 : 1);
        try (ScratchPool pool = new ScratchPool(rules, clockMs)) {
            while (!closing && processorNs() < endNs) {
                if (waits.getAsBoolean()) {
                    Thread.sleep(PAUSE_MS);
                    continue;
                }
                pool.round();
                pool.takeOver();
                done++;
                batches = done;
                secure = secure.filter(WarmUp::shakesHands);
                if (secure.isPresent()) {
                    shaken++;
                    handshakes = shaken;
                }
            }
            LOG.info(
                    "warmed up with {} batches and {} handshakes in {} ms",
                    done,
                    shaken,
                    clockMs.getAsLong() - begunMs);
            return true;
        } catch (RuntimeException | Error e) {
            LOG.error("a defect of kvpool ended the warm-up after {} batches; the master goes on", done, e);
            return false;
        }
    }

    /** False when the own certificate is not good at both ends, where more tries would fail as well. */
    private static boolean shakesHands(TlsContext own) {
        try (ScratchHandshake handshake = new ScratchHandshake(own)) {
            return handshake.run() > 0;
        }
    }

    private static long processorNs() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** How often it has ended. */
    int times() {
        return times;
    }

    /** What went through the scratch pool the last time. */
    int batches() {
        return batches;
    }

    /** How often it has shaken hands then. */
    int handshakes() {
        return handshakes;
    }

    /** Ends it soon; does not wait for that. */
    @Override
    public void close() {
        closing = true;
    }

    /** Until it has ended, by itself or by {@link #close}. */
    void await() throws InterruptedException {
        thread.join();
    }
}
