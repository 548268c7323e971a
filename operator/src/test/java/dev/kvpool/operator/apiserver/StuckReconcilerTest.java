// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A reconciliation that never ends is seen by the liveness check, which names it; when it ends, all is well again. */
class StuckReconcilerTest {
    private static final Duration LONGER_THAN_ALLOWED = Duration.ofMinutes(6);

    private final AtomicLong nanos = new AtomicLong();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    @Test
    void aReconcilerThatHangsIsNotAlive() {
        try (OperatorUnderTest operator =
                OperatorUnderTest.in("stuck").timedBy(nanos::get).start()) {
            // Masters are asked in every reconciliation, even when there are none yet: here one that never answers.
            operator.masters().onQuestion(pods -> hang());
            operator.make("hangs", "{storage: [{name: default, capacity: 1Gi}]}");
            await().until(() -> entered.getCount() == 0);
            assertThat(operator.dead()).isEmpty();

            nanos.addAndGet(LONGER_THAN_ALLOWED.toNanos());

            assertThat(operator.dead())
                    .contains("The reconciliation of KvCachePool stuck/hangs has run for 360 s, longer than 300 s.");

            released.countDown();

            await().until(() -> operator.dead().isEmpty());
        } finally {
            released.countDown();
        }
    }

    private void hang() {
        entered.countDown();
        try {
            released.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
