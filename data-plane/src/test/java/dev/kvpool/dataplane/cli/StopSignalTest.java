// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class StopSignalTest {
    private final List<Integer> halts = new CopyOnWriteArrayList<>();

    @Test
    void whatFailsAndThenHangsWhileItIsClosedIsEnded() throws InterruptedException {
        StopSignal stop = new StopSignal(halts::add, Duration.ofMillis(1)).endingProcess();

        assertThat(stop.awaitUnless(() -> true)).isEqualTo(ExitCode.DEFECT);

        await().untilAsserted(() -> assertThat(halts).containsExactly(ExitCode.DEFECT));
    }

    @Test
    void whatFailsAndIsClosedExitsInOrder() throws Exception {
        StopSignal stop = new StopSignal(halts::add, Duration.ofHours(1)).endingProcess();

        assertThat(stop.awaitUnless(() -> true)).isEqualTo(ExitCode.DEFECT);
        stop.finished(ExitCode.DEFECT);

        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals("stop-failed")) {
                thread.join(Duration.ofSeconds(10));
            }
        }
        assertThat(halts).isEmpty();
    }
}
