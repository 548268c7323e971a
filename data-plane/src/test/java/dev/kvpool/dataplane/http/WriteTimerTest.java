// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.OutputStream;
import org.junit.jupiter.api.Test;

class WriteTimerTest {
    private static final long LONG_MS = 60_000;

    @Test
    void whoWritesForTooLongIsInterrupted() {
        try (WriteTimer timer = new WriteTimer(1);
                WriteTimer.Deadline deadline = timer.begin()) {
            assertThat(deadline).isNotNull();
            assertThatThrownBy(() -> Thread.sleep(LONG_MS)).isInstanceOf(InterruptedException.class);
        }
    }

    @Test
    void aFlushBeginsTheTimeAgainAndTheEndEndsIt() throws Exception {
        try (WriteTimer timer = new WriteTimer(2)) {
            try (WriteTimer.Deadline deadline = timer.begin()) {
                OutputStream out = deadline.extendedByFlushesOf(OutputStream.nullOutputStream());
                for (int i = 0; i < 6; i++) {
                    out.flush();
                    Thread.sleep(500);
                }
            }
            Thread.sleep(2_500);
        }
        assertThat(Thread.interrupted()).isFalse();
    }
}
