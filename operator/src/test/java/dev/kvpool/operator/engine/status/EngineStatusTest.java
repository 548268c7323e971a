// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.engine.status;

import static dev.kvpool.operator.engine.status.EngineSketch.pool;
import static dev.kvpool.operator.engine.status.EngineSketch.poolWithAgents;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.TransferEngineStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.EngineUse;
import dev.kvpool.api.v1alpha1.status.ReadyCount;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a transfer engine says of the pools that name it. */
class EngineStatusTest {
    @Test
    void oneThatNobodyNamesIsReadyAndSaysSo() {
        assertThat(reason()).isEqualTo(Reason.NOT_USED.text());
    }

    @Test
    void allNodesOfAllPoolsMustBeReady() {
        assertThat(reason(pool(2, 2, "shm", "tcp"), pool(1, 1, "shm", "tcp"))).isEqualTo(Reason.ENGINE_READY.text());
        assertThat(reason(pool(2, 2, "shm", "tcp"), pool(0, 1, "shm", "tcp"))).isEqualTo(Reason.NODES_MISSING.text());
    }

    @Test
    void aProtocolThatOnePoolLacksIsMissing() {
        assertThat(reason(pool(2, 2, "shm", "tcp"), pool(1, 1, "tcp"))).isEqualTo(Reason.PROTOCOLS_MISSING.text());
    }

    @Test
    void sharedMemoryIsMissingOnlyWhereOtherPodsCouldUseIt() {
        assertThat(EngineSketch.statusOf("{}", pool(1, 1, "tcp"))
                        .conditions()
                        .getFirst()
                        .reason())
                .isEqualTo(Reason.ENGINE_READY.text());
        assertThat(EngineSketch.statusOf("{socketDirectory: /run/kvpool}", pool(1, 1, "tcp"))
                        .conditions()
                        .getFirst()
                        .message())
                .contains("offers shm");
    }

    @Test
    void sharedMemoryThatNoPodCouldUseIsNotLeftOutSilently() {
        assertThat(EngineSketch.statusOf("{protocols: [shm, tcp]}", pool(1, 1, "tcp"))
                        .message())
                .contains("do not offer shm", "socketDirectory");
        assertThat(EngineSketch.statusOf("{protocols: [tcp]}", pool(1, 1, "tcp"))
                        .message())
                .doesNotContain("shm");
        assertThat(EngineSketch.statusOf("{socketDirectory: /run/kvpool}", pool(1, 1, "shm", "tcp"))
                        .message())
                .doesNotContain("shm");
    }

    @Test
    void enginesOfAPoolWithoutStorageNodesOfferWhatTheyCan() {
        KvCachePool engines = pool(3, 3, "tcp");
        engines.setSpec(new KubernetesSerialization().unmarshal("storage: []", KvCachePoolSpec.class));

        assertThat(EngineSketch.statusOf("{socketDirectory: /run/kvpool}", engines)
                        .conditions()
                        .getFirst()
                        .reason())
                .isEqualTo(Reason.ENGINE_READY.text());
        assertThat(EngineSketch.statusOf("{socketDirectory: /run/kvpool}", engines, pool(1, 1, "shm", "tcp"))
                        .conditions()
                        .getFirst()
                        .reason())
                .isEqualTo(Reason.ENGINE_READY.text());
    }

    /** Masters say nothing of ucx: an engine that asks for it is ready all the same, and says who knows. */
    @Test
    void ucxIsNeitherOfferedNorMissing() {
        Condition condition = EngineSketch.statusOf("{protocols: [shm, ucx, tcp]}", pool(1, 1, "shm", "tcp"))
                .conditions()
                .getFirst();

        assertThat(condition.reason()).isEqualTo(Reason.ENGINE_READY.text());
        assertThat(condition.message()).contains("All 1 storage nodes", "kvpool_node_serves_ucx");
    }

    @Test
    void agentsThatAreNotReadyAreNamedBehindStorageNodes() {
        TransferEngineStatus status = EngineSketch.statusOf(
                "{agents: {}}", poolWithAgents(2, 3), poolWithAgents(4, 4), pool(1, 1, "shm", "tcp"));

        assertThat(status.agents()).isEqualTo(ReadyCount.of(6, 7));
        assertThat(status.conditions().getFirst().reason()).isEqualTo(Reason.AGENTS_MISSING.text());
        assertThat(status.message()).startsWith("6/7 agents");
        assertThat(EngineSketch.statusOf("{agents: {}}", poolWithAgents(0, 1), pool(0, 1, "shm", "tcp"))
                        .conditions()
                        .getFirst()
                        .reason())
                .isEqualTo(Reason.NODES_MISSING.text());
    }

    @Test
    void anEngineWithoutAgentsCountsNone() {
        assertThat(EngineSketch.statusOf("{}", poolWithAgents(0, 3)).agents()).isNull();
        assertThat(reason(poolWithAgents(0, 3))).isEqualTo(Reason.ENGINE_READY.text());
    }

    @Test
    void ofAPoolWithSeveralEnginesOnlyItsOwnNodesCount() {
        KvCachePool pool = EngineSketch.poolOf(
                new EngineUse("demo", ReadyCount.of(1, 1), List.of("shm", "tcp")),
                new EngineUse("other", ReadyCount.of(0, 5), List.of()));
        KvCachePool ofOthers = EngineSketch.poolOf(new EngineUse("other", ReadyCount.of(0, 5), List.of()));

        TransferEngineStatus status = EngineSketch.statusOf("{socketDirectory: /run/kvpool}", pool, ofOthers);

        assertThat(status.nodes()).isEqualTo(ReadyCount.of(1, 1));
        assertThat(status.protocols()).containsExactly("shm", "tcp");
        assertThat(status.conditions().getFirst().reason()).isEqualTo(Reason.ENGINE_READY.text());
    }

    @ParameterizedTest
    @CsvSource({
        "UpToDate,UpToDate,UpToDate",
        "UpToDate,CarryingOut,CarryingOut",
        "Held,CarryingOut,CarryingOut",
        "Held,UpToDate,Held"
    })
    void aChangeIsUnderWayAsLongAsAPoolCarriesItOut(String one, String other, String of) {
        Condition progressing = EngineSketch.status(
                        EngineSketch.progressing("one", one), EngineSketch.progressing("two", other))
                .conditions()
                .get(1);

        assertThat(progressing.type()).isEqualTo("Progressing");
        assertThat(progressing.reason()).isEqualTo(of);
        assertThat(progressing.message().contains("pool one")
                        || progressing.message().contains("Pool one"))
                .isEqualTo("Held".equals(of));
        assertThat(progressing.message().contains("pool two")).isEqualTo("CarryingOut".equals(of));
    }

    @Test
    void whatItCountsWakesIt() {
        KvCachePool before = named(poolWithAgents(0, 1));

        assertThat(EngineStatus.mayDiffer(named(poolWithAgents(0, 1)), before)).isFalse();
        assertThat(EngineStatus.mayDiffer(named(poolWithAgents(1, 1)), before)).isTrue();
        assertThat(EngineStatus.mayDiffer(named(pool(0, 1, "shm", "tcp")), before))
                .isTrue();
        assertThat(EngineStatus.mayDiffer(named(pool(1, 1, "tcp")), named(pool(1, 1, "shm", "tcp"))))
                .isTrue();
        assertThat(EngineStatus.mayDiffer(
                        named(EngineSketch.progressing("demo", "CarryingOut")),
                        named(EngineSketch.progressing("demo", "UpToDate"))))
                .isTrue();
    }

    private static KvCachePool named(KvCachePool pool) {
        pool.setSpec(new KubernetesSerialization().unmarshal("transferEngine: demo", KvCachePoolSpec.class));
        return pool;
    }

    private static String reason(KvCachePool... pools) {
        return EngineSketch.status(pools).conditions().stream()
                .map(Condition::reason)
                .findFirst()
                .orElseThrow();
    }
}
