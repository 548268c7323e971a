// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool in which nothing of interest happens costs no write, however often it is looked at. */
class QuietPoolTest {
    private static final String NAMESPACE = "quiet";
    private static final Duration POLL = Duration.ofMillis(50);
    private static final int LOOKS = 40;
    private static final long MIB = 1L << 20;
    private static final List<String> NODES = List.of("calm-default-0", "calm-default-1", "spread.quiet-1");

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE).looking(POLL, POLL);

    @Test
    void nothingIsWritten() {
        PoolUnderTest pool = ready();
        look(5);
        Map<String, String> before = versions(pool);

        for (int look = 0; look < LOOKS; look++) {
            // What goes on in a healthy pool: renewals, slow growth, heartbeats of kubelets.
            renewLease(look);
            used(500 * MIB + look * MIB / 16, look % 3);
            touchPod(look);
            OPERATOR.cluster().label("quiet-1", "look", Integer.toString(look));
            look(1);
        }

        assertThat(versions(pool)).isEqualTo(before);
    }

    private static PoolUnderTest ready() {
        ClusterActor cluster = OPERATOR.cluster();
        OPERATOR.applyEngine("engine", "{}");
        cluster.addNode("quiet-1", Map.of("quiet", "yes", "topology.kubernetes.io/zone", "eu-1"));
        PoolUnderTest pool = OPERATOR.make("calm", """
                        {transferEngine: engine, deletionPolicy: Retain, storage: [
                          {name: default, capacity: 1Gi, replicas: 2, volume: {type: persistentVolumeClaim}},
                          {name: spread, capacity: 1Gi, perNode: {nodeSelector: {quiet: "yes"}},
                            volume: {type: hostPath, path: /dev/shm/kvpool}}]}""").awaitChildren(17).runOn("spread", "quiet-1");
        cluster.schedulePodsOf("calm-default", "quiet-1");
        used(500 * MIB, 0);
        pool.awaitPhase(PoolPhase.READY);
        await().untilAsserted(() -> {
            assertThat(OPERATOR.engine("engine").getStatus().nodes().summary()).isEqualTo("3/3");
            assertThat(cluster.isLabelledLeader("calm-master-0")).isTrue();
            assertThat(pool.expectedNodes())
                    .isEqualTo("calm-default-0 quiet-1\ncalm-default-1 quiet-1\nspread.quiet-1 quiet-1\n");
        });
        return pool;
    }

    /** Waits until the operator has looked at the pool again. */
    private static void look(int times) {
        long until = OPERATOR.masters().questions() + times;
        await().until(() -> OPERATOR.masters().questions() >= until);
    }

    private static void renewLease(int second) {
        OPERATOR.client()
                .leases()
                .inNamespace(NAMESPACE)
                .withName("calm-master")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"spec\":{\"renewTime\":\"2026-01-01T00:%02d:%02d.000000Z\"}}"
                                .formatted(second / 60, second % 60));
    }

    /** So much is used, and so many of the objects wait for a copy at this moment. */
    private static void used(long bytes, long underReplicated) {
        PoolReport report = ScriptedMasters.leader("calm-master-0", 1, bytes, NODES);
        OPERATOR.masters().say("calm-master-0", Reports.missing(0, underReplicated, report));
    }

    private static void touchPod(int value) {
        OPERATOR.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withName("calm-default-0")
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"annotations\":{\"look\":\"%d\"}}}".formatted(value));
    }

    /** Of all that the operator writes, not of what the test writes. */
    private static Map<String, String> versions(PoolUnderTest pool) {
        Map<String, String> versions = pool.versions();
        versions.remove("Pod/calm-default-0");
        TransferEngine engine = OPERATOR.engine("engine");
        versions.put("TransferEngine/engine", engine.getMetadata().getResourceVersion());
        return versions;
    }
}
