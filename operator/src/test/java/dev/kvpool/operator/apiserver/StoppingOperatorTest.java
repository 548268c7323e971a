// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A reconciliation that is under way while the operator stops writes nothing of what it sees: the caches are emptied then. */
class StoppingOperatorTest {
    private static final Duration POLL = Duration.ofMillis(50);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final AtomicBoolean hold = new AtomicBoolean();
    private final CountDownLatch answered = new CountDownLatch(1);

    @Test
    void whatAStoppingOperatorSeesIsNotWritten() {
        OperatorUnderTest operator =
                OperatorUnderTest.in("stopping").looking(POLL, POLL).start();
        operator.make("calm", "{masters: {replicas: 1}, storage: [{name: default, capacity: 1Gi}]}")
                .ready();

        operator.masters().onQuestion(pods -> waitForTheEnd());
        hold.set(true);
        await().until(() -> asked.getCount() == 0);
        List<String> before = operator.writes();
        operator.masters().silence("calm-master-0");
        operator.stop();
        stopped.countDown();
        await().until(() -> answered.getCount() == 0);
        operator.close();

        assertThat(operator.writes()).isEqualTo(before);
    }

    /** In the middle of a look at the pool; the executor interrupts it when the operator stops, which must not save it. */
    private void waitForTheEnd() {
        if (!hold.get() || asked.getCount() == 0) {
            return;
        }
        asked.countDown();
        while (stopped.getCount() > 0) {
            try {
                stopped.await();
            } catch (InterruptedException ignored) {
                // The operator stops; this look shall outlive that.
            }
        }
        answered.countDown();
    }
}
