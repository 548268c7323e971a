// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool without storage nodes, whose memory is that of engines. */
class EnginesOnlyLifecycleTest {
    private static final String NAMESPACE = "engines-only";
    private static final String LEADER = "shared-master-0";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    @Test
    void thePoolIsReadyBeforeItsEnginesAndTakesStorageNodesLater() {
        PoolUnderTest pool = OPERATOR.make("shared", "{storage: [], engineSegmentSize: 1Gi}");
        pool.awaitExpectedNodes("\n");
        assertThat(pool.child(ConfigMap.class, "client").getData())
                .containsEntry("MOONCAKE_GLOBAL_SEGMENT_SIZE", Long.toString(1L << 30))
                .hasEntrySatisfying("mooncake.json", file -> assertThat(file).contains("\"mode\": \"embedded\""));
        await().untilAsserted(() -> assertThat(workloads()).containsExactly("shared-master"));

        pool.run();
        pool.awaitReason(Reason.NO_ENGINE_JOINED);
        assertThat(pool.has(Reason.SERVING)).isTrue();
        assertThat(pool.message(ConditionType.STORAGE_READY)).contains("shared-client");
        assertThat(pool.phase()).isEqualTo(PoolPhase.READY);
        assertThat(pool.get().getSpec().storage()).isEmpty();

        List<PoolReport.Node> engines =
                Stream.of("engine-1", "engine-2").map(Reports::engine).toList();
        OPERATOR.masters().say(LEADER, ScriptedMasters.leading(LEADER, 1, engines));
        pool.awaitReason(Reason.ENGINES_CONTRIBUTE);
        assertThat(pool.status().storage().summary()).isEqualTo("2 engines");
        assertThat(pool.status().protocols()).containsExactly("tcp");

        pool.apply("{storage: [{name: a, capacity: 1Gi}], engineSegmentSize: 1Gi}");
        pool.awaitExpectedNodes("shared-a-0\n");
        await().untilAsserted(() -> assertThat(workloads()).containsExactlyInAnyOrder("shared-master", "shared-a"));
    }

    private static List<String> workloads() {
        return OPERATOR.client().resources(StatefulSet.class).inNamespace(NAMESPACE).list().getItems().stream()
                .map(set -> set.getMetadata().getName())
                .toList();
    }
}
