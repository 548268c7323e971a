// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.health;

import dev.kvpool.dataplane.cli.ExitCode;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the process at a defect: says why in the log, and halts with {@link ExitCode#DEFECT}. Nothing is closed in order, since
 * what would be closed is what is broken; peers see their connections end at once. The log line gets a second, as whatever reads
 * the log may be what hangs.
 */
public final class DefectExit implements Defects, Thread.UncaughtExceptionHandler {
    private static final Logger LOG = LoggerFactory.getLogger(DefectExit.class);
    private static final long SAY_MS_MAX = 1_000;

    private record Defect(String what, Throwable cause) {}

    private final IntConsumer halt;
    private final AtomicReference<Defect> first = new AtomicReference<>();
    private final CountDownLatch found = new CountDownLatch(1);
    private final CountDownLatch said = new CountDownLatch(1);

    /** @param halt ends the process without any further code of it */
    DefectExit(IntConsumer halt) {
        this.halt = halt;
        // Made now: when there is a defect there may be no memory for a thread.
        Thread.ofPlatform().name("defect-log").daemon().start(this::say);
    }

    /** For this process; also hears of every exception that nobody catches. */
    public static DefectExit ofThisProcess() {
        DefectExit exit = new DefectExit(Runtime.getRuntime()::halt);
        Thread.setDefaultUncaughtExceptionHandler(exit);
        return exit;
    }

    @Override
    public void found(String what, Throwable cause) {
        if (!first.compareAndSet(null, new Defect(what, cause))) {
            return;
        }
        found.countDown();
        try {
            said.await(SAY_MS_MAX, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            halt.accept(ExitCode.DEFECT);
        }
    }

    @Override
    public void uncaughtException(Thread thread, Throwable cause) {
        found("thread " + thread.getName() + " has ended", cause);
    }

    private void say() {
        try {
            found.await();
            Defect defect = first.get();
            LOG.error("a defect of kvpool ends this process: {}", defect.what(), defect.cause());
            said.countDown();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
