// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Bounds how long the other side may take nothing of a response: then the thread that writes is interrupted, which closes the connection.
 * The JDK's server can only bound the whole response, and a stream has no end.
 */
final class WriteTimer implements AutoCloseable {
    private final int seconds;
    private final ScheduledThreadPoolExecutor timer;

    WriteTimer(int seconds) {
        this.seconds = seconds;
        timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("admin-write-timer").factory());
        timer.setRemoveOnCancelPolicy(true);
    }

    /** For what the calling thread is about to write. */
    Deadline begin() {
        return new Deadline(Thread.currentThread());
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }

    /** Until when one response must have been taken, or a part of it. */
    final class Deadline implements AutoCloseable {
        private final Thread writer;
        private ScheduledFuture<?> expiry;
        private boolean closed;

        private Deadline(Thread writer) {
            this.writer = writer;
            expiry = schedule();
        }

        /** Each flush that returns starts the time again. */
        OutputStream extendedByFlushesOf(OutputStream out) {
            return new BufferedOutputStream(out) {
                @Override
                public synchronized void flush() throws IOException {
                    super.flush();
                    extend();
                }
            };
        }

        private synchronized void extend() {
            expiry.cancel(false);
            expiry = schedule();
        }

        private ScheduledFuture<?> schedule() {
            return timer.schedule(this::expire, seconds, TimeUnit.SECONDS);
        }

        private synchronized void expire() {
            if (!closed) {
                writer.interrupt();
            }
        }

        @Override
        public synchronized void close() {
            closed = true;
            expiry.cancel(false);
        }
    }
}
