// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import dev.kvpool.dataplane.config.Setting;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;

/**
 * Ends a child of {@code kvpool local} with its parent. The parent holds the other end of the child's standard input; the
 * kernel closes it however the parent dies, SIGKILL included.
 */
public final class ParentWatch {
    public static final Setting<Boolean> SETTING = Setting.onOff(
                    "parent-watch", "Stop when standard input ends. Set by kvpool local for its children.")
            .asHidden();

    /** A child that hangs while closing must not outlive its parent for long. */
    private static final Duration CLOSE_MAX = Duration.ofSeconds(10);

    private ParentWatch() {}

    static void start(InputStream in, StopSignal stop) {
        Thread.ofPlatform().daemon().name("parent-watch").start(() -> watch(in, stop));
    }

    private static void watch(InputStream in, StopSignal stop) {
        try {
            while (in.read() >= 0) {
                // Nothing is said on this pipe; only its end matters.
            }
        } catch (IOException e) {
            // A broken pipe is an end as well.
        }
        stop.ask();
        try {
            Thread.sleep(CLOSE_MAX);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().halt(ExitCode.FAILURE);
    }
}
