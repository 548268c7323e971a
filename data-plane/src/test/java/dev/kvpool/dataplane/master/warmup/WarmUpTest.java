// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The pool that a master practises on, and for how long it does. */
@Timeout(60)
class WarmUpTest {
    /** The pool keeps two copies; the scratch pool has one node and must do with one. */
    private static final CoreSettings RULES =
            new CoreSettings("master-0", 10_000, 0.9, 0.85, 2, 5_000, 30_000, 1L << 28);

    /** More objects than the scratch node has slots, so that each must be freed again. */
    private static final int ROUNDS = 200;

    @Test
    void aScratchPoolDoesWhatALeaderDoesAndKeepsNothing() {
        long objects = (long) ROUNDS * ScratchPool.BATCH;
        try (ScratchPool pool = new ScratchPool(RULES, WarmUpTest::clockMs)) {
            for (int i = 0; i < ROUNDS; i++) {
                pool.round();
            }

            PoolStatus status = pool.status();
            assertThat(status.state()).isEqualTo(PoolStatus.State.SERVING);
            assertThat(status.objects()).isZero();
            assertThat(status.grantsUnderWay()).isZero();
            assertThat(status.tombstones()).isZero();
            for (Count count : new Count[] {Count.PUTS, Count.LOOKUP_HITS, Count.EXISTS_HITS, Count.REMOVED}) {
                assertThat(status.counters().get(count)).as(count.name()).isEqualTo(objects);
            }
        }
    }

    @Test
    void aBudgetEndsIt() throws InterruptedException {
        WarmUp warmUp = WarmUp.start(RULES, WarmUpTest::clockMs, Duration.ofMillis(500), () -> false);

        warmUp.await();

        assertThat(warmUp.batches()).isPositive();
    }

    @Test
    void withoutABudgetThereIsNone() throws InterruptedException {
        WarmUp warmUp = WarmUp.start(RULES, WarmUpTest::clockMs, Duration.ZERO, () -> false);

        warmUp.await();

        assertThat(warmUp.batches()).isZero();
    }

    @Test
    void aMasterThatEndsEndsIt() throws InterruptedException {
        WarmUp warmUp = WarmUp.start(RULES, WarmUpTest::clockMs, Duration.ofHours(1), () -> false);

        warmUp.close();

        warmUp.await();
    }

    @Test
    void itWaitsWhileItsMasterIsBusy() throws InterruptedException {
        CountDownLatch asked = new CountDownLatch(3);
        WarmUp warmUp = WarmUp.start(RULES, WarmUpTest::clockMs, Duration.ofHours(1), () -> {
            asked.countDown();
            return true;
        });

        asked.await();
        warmUp.close();
        warmUp.await();

        assertThat(warmUp.batches()).isZero();
    }

    private static long clockMs() {
        return System.nanoTime() / 1_000_000;
    }
}
