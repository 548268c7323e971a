// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * The wish that this process ends: SIGTERM, SIGINT, or its parent's end. A command waits for it, closes what it has in
 * order and returns, and the process exits with what it returned.
 */
public final class StopSignal {
    /** Less than the 30 s after which Kubernetes kills. */
    private static final Duration CLOSE_MAX = Duration.ofSeconds(25);

    private static final Duration FAILURE_LOOK = Duration.ofMillis(500);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch finished = new CountDownLatch(1);
    private final IntConsumer halt;
    private final Duration closeMax;
    private volatile int exitCode = ExitCode.FAILURE;
    private volatile boolean endsProcess;

    public StopSignal() {
        this(Runtime.getRuntime()::halt, CLOSE_MAX);
    }

    /** @param halt ends the process without any further code of it */
    StopSignal(IntConsumer halt, Duration closeMax) {
        this.halt = halt;
        this.closeMax = closeMax;
    }

    /** Makes SIGTERM and SIGINT ask this signal instead of ending the process at once. */
    public StopSignal onTermination() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::stopAndExit, "stop"));
        return endingProcess();
    }

    /** The process ends with what this signal stops, in whatever state that is. */
    StopSignal endingProcess() {
        endsProcess = true;
        return this;
    }

    /** Waits until the process is asked to stop. */
    public void await() throws InterruptedException {
        asked.await();
    }

    /** Waits for at most the time given; true when the process is asked to stop. */
    public boolean await(Duration time) throws InterruptedException {
        return asked.await(time.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Waits until the process is asked to stop; {@link ExitCode#DEFECT} when it has failed before. */
    public int awaitUnless(BooleanSupplier failed) throws InterruptedException {
        while (!await(FAILURE_LOOK)) {
            if (failed.getAsBoolean()) {
                haltUnlessClosed();
                return ExitCode.DEFECT;
            }
        }
        return ExitCode.OK;
    }

    public boolean isAsked() {
        return asked.getCount() == 0;
    }

    public void ask() {
        asked.countDown();
    }

    /** Tells that the command returned and everything is closed. */
    public void finished(int code) {
        exitCode = code;
        finished.countDown();
    }

    private void stopAndExit() {
        if (finished.getCount() == 0) {
            return; // a regular exit, which has its code already
        }
        ask();
        isClosedInTime();
        // Without halt the JVM would report the signal (143), where a clean stop is 0.
        halt.accept(exitCode);
    }

    /** What has failed may hang while it is closed, as beside a disk that hangs: nothing else would end the process then. */
    private void haltUnlessClosed() {
        if (endsProcess) {
            Thread.ofPlatform().name("stop-failed").daemon().start(() -> {
                if (!isClosedInTime()) {
                    halt.accept(ExitCode.DEFECT);
                }
            });
        }
    }

    private boolean isClosedInTime() {
        try {
            if (finished.await(closeMax.toMillis(), TimeUnit.MILLISECONDS)) {
                return true;
            }
            System.err.println("kvpool: not closed within " + closeMax.toSeconds() + " s, giving up");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return false;
    }
}
