// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.event.EventRecorder;
import dev.kvpool.operator.health.ReconciliationWatch;
import dev.kvpool.operator.health.StuckReconcilerCheck;
import dev.kvpool.operator.pool.KvCachePoolReconciler;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponse.Status;
import org.junit.jupiter.api.Test;

/** A reconciliation that never ends is seen by the liveness check, which names it; when it ends, all is well again. */
class StuckReconcilerTest {
    private static final String NAMESPACE = "stuck";
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration LONGER_THAN_ALLOWED = Duration.ofMinutes(6);

    private final AtomicLong nanos = new AtomicLong();
    private final ReconciliationWatch watch = new ReconciliationWatch(nanos::get);
    private final StuckReconcilerCheck check = new StuckReconcilerCheck(watch);
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    @Test
    void aReconcilerThatHangsIsNotAlive() {
        ApiServer.shared().createNamespace(NAMESPACE);
        try (KubernetesClient client = ApiServer.shared().client();
                KubernetesClient restricted = ApiServer.shared().operatorClient()) {
            Operator operator = operator(restricted);
            try {
                operator.start();
                client.resource("""
                        apiVersion: kvpool.dev/v1alpha1
                        kind: KvCachePool
                        metadata: {name: hangs, namespace: stuck}
                        spec: {storage: [{name: default, capacity: 1Gi}]}
                        """).create();
                await().atMost(LIMIT).until(() -> entered.getCount() == 0);
                assertThat(check.call().getStatus()).isEqualTo(Status.UP);

                nanos.addAndGet(LONGER_THAN_ALLOWED.toNanos());

                HealthCheckResponse answer = check.call();
                assertThat(answer.getStatus()).isEqualTo(Status.DOWN);
                assertThat(answer.getData().orElseThrow().get("trouble"))
                        .isEqualTo(
                                "The reconciliation of KvCachePool stuck/hangs has run for 360 s, longer than 300 s.");

                released.countDown();

                await().atMost(LIMIT).until(() -> check.call().getStatus() == Status.UP);
            } finally {
                released.countDown();
                operator.stop();
            }
        }
    }

    private Operator operator(KubernetesClient restricted) {
        Operator operator = new Operator(configuration -> configuration
                .withKubernetesClient(restricted)
                .withCloseClientOnStop(false)
                .withMetrics(watch));
        InstantSource clock = InstantSource.system();
        // Masters are asked in every reconciliation, even when there are none yet: here one that never answers.
        ScriptedMasters masters = new ScriptedMasters();
        masters.onQuestion(() -> {
            entered.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        operator.register(
                new KvCachePoolReconciler(
                        masters,
                        OperatorUnderTest.SETTINGS,
                        new EventRecorder(restricted, clock, "test"),
                        clock,
                        PollInterval.DEFAULT),
                configuration -> configuration.settingNamespace(NAMESPACE));
        return operator;
    }
}
