// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.pool.report.PollInterval;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A reconciliation that is under way while the operator stops writes nothing of what it sees: the caches are emptied then. */
class StoppingOperatorTest {
    private static final String NAMESPACE = "stopping";
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration POLL = Duration.ofMillis(50);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final AtomicBoolean hold = new AtomicBoolean();
    private final CountDownLatch answered = new CountDownLatch(1);

    @Test
    void whatAStoppingOperatorSeesIsNotWritten() throws InterruptedException {
        OperatorUnderTest operator = new OperatorUnderTest(NAMESPACE, new PollInterval(POLL, POLL));
        ClusterActor cluster = new ClusterActor(operator.client(), NAMESPACE);
        operator.applyPool("calm", "{masters: {replicas: 1}, storage: [{name: default, capacity: 1Gi, replicas: 1}]}");
        operator.masters()
                .say("calm-master-0", ScriptedMasters.leader("calm-master-0", 1, 0, List.of("calm-default-0")));
        await().atMost(LIMIT)
                .until(() -> Children.of(operator.client(), NAMESPACE, "calm").size() > 13);
        cluster.runPodsOf("calm-master");
        cluster.runPodsOf("calm-default");
        cluster.takeLease("calm-master", "calm-master-0", 1);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(operator.pool("calm").getStatus())
                        .isNotNull()
                        .extracting(status -> status.phase())
                        .isEqualTo(PoolPhase.READY));

        operator.masters().onQuestion(this::waitForTheEnd);
        hold.set(true);
        assertThat(asked.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        List<String> before = operator.writes();
        operator.masters().silence("calm-master-0");
        operator.stop();
        stopped.countDown();
        assertThat(answered.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
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
