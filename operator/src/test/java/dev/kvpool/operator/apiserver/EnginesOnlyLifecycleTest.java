// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.Condition;
import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A pool without storage nodes, whose memory is that of engines. */
class EnginesOnlyLifecycleTest {
    private static final String NAMESPACE = "engines-only";
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final String LEADER = "shared-master-0";

    private static OperatorUnderTest operator;
    private static ClusterActor cluster;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE);
        cluster = new ClusterActor(operator.client(), NAMESPACE);
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void thePoolIsReadyBeforeItsEnginesAndTakesStorageNodesLater() {
        operator.applyPool("shared", "{storage: [], engineSegmentSize: 1Gi}");
        await().atMost(LIMIT)
                .ignoreExceptions()
                .untilAsserted(() -> assertThat(Children.expectedNodes(operator.client(), NAMESPACE, "shared"))
                        .isEqualTo("\n"));
        assertThat(clientVariables())
                .containsEntry("MOONCAKE_GLOBAL_SEGMENT_SIZE", Long.toString(1L << 30))
                .hasEntrySatisfying("mooncake.json", file -> assertThat(file).contains("\"mode\": \"embedded\""));
        await().atMost(LIMIT).untilAsserted(() -> assertThat(workloads()).containsExactly("shared-master"));

        cluster.runPodsOf("shared-master");
        engines();
        operator.masters().say("shared-master-1", ScriptedMasters.standby("shared-master-1", 1));
        cluster.takeLease("shared-master", LEADER, 1);
        awaitReason(Reason.NO_ENGINE_JOINED);
        assertThat(condition("Ready").reason()).isEqualTo(Reason.SERVING.text());
        assertThat(condition("StorageReady").message()).contains("shared-client");
        assertThat(operator.pool("shared").getStatus().phase()).isEqualTo(PoolPhase.READY);
        assertThat(operator.pool("shared").getSpec().storage()).isEmpty();

        engines("engine-1", "engine-2");
        awaitReason(Reason.ENGINES_CONTRIBUTE);
        var status = operator.pool("shared").getStatus();
        assertThat(status.storage().summary()).isEqualTo("2 engines");
        assertThat(status.protocols()).containsExactly("tcp");

        operator.applyPool("shared", "{storage: [{name: a, capacity: 1Gi}], engineSegmentSize: 1Gi}");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(Children.expectedNodes(operator.client(), NAMESPACE, "shared"))
                        .isEqualTo("shared-a-0\n"));
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(workloads()).containsExactlyInAnyOrder("shared-master", "shared-a"));
    }

    private static void engines(String... ids) {
        List<PoolReport.Node> nodes = List.of(ids).stream().map(Reports::engine).toList();
        operator.masters().say(LEADER, ScriptedMasters.leading(LEADER, 1, nodes));
    }

    private static void awaitReason(Reason reason) {
        await().atMost(LIMIT)
                .ignoreExceptions()
                .until(() -> condition(reason.type().text()).reason().equals(reason.text()));
    }

    private static Condition condition(String type) {
        return operator.pool("shared").getStatus().conditions().stream()
                .filter(condition -> condition.type().equals(type))
                .findFirst()
                .orElseThrow();
    }

    private static Map<String, String> clientVariables() {
        return operator.client()
                .configMaps()
                .inNamespace(NAMESPACE)
                .withName("shared-client")
                .get()
                .getData();
    }

    private static List<String> workloads() {
        return operator.client().resources(StatefulSet.class).inNamespace(NAMESPACE).list().getItems().stream()
                .map(set -> set.getMetadata().getName())
                .toList();
    }
}
