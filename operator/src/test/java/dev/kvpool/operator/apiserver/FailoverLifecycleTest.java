// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.status.FailoverCause;
import dev.kvpool.api.v1alpha1.status.FailoverStatus;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A leader whose container ends, on a real API server: what the kubelet says reaches the standby, and what followed is told once. */
class FailoverLifecycleTest {
    /** It is the pod's change that wakes the operator. */
    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in("failover").lookingOnChangesOnly();

    @Test
    void theStandbyIsToldAndTheStatusTellsWhatFollowed() {
        PoolUnderTest pool = OPERATOR.make("demo", "{storage: [{name: default, capacity: 1Gi}]}")
                .awaitChildren(15)
                .run()
                .awaitPhase(PoolPhase.READY);
        assertThat(pool.status().lastFailover()).isNull();
        assertThat(OPERATOR.masters().goneLeaders()).isEmpty();

        OPERATOR.masters().silence("demo-master-0");
        OPERATOR.cluster().endContainer("demo-master-0", 137);

        await().untilAsserted(() -> assertThat(OPERATOR.masters().goneLeaders())
                .first()
                .isEqualTo("10.0.0.2 is told: demo-master-0_0123456789abcdef in epoch 1 at 10.0.0.1:50051"));
        pool.awaitReason(Reason.LEADER_DIED);

        OPERATOR.masters()
                .say(
                        "demo-master-1",
                        Reports.after(
                                new PoolReport.Takeover(2, "died", "demo-master-0", 57, "2026-01-01T00:00:00.5Z"),
                                ScriptedMasters.leader("demo-master-1", 2, 0, List.of("demo-default-0"))));
        OPERATOR.cluster().takeLease("demo-master", "demo-master-1", 2);
        pool.awaitPhase(PoolPhase.DEGRADED);

        FailoverStatus expected = new FailoverStatus(
                2L, "2026-01-01T00:00:00Z", "demo-master-0", "demo-master-1", FailoverCause.LEADER_DIED, "57ms");
        assertThat(pool.status().lastFailover()).isEqualTo(expected);
        assertThat(OPERATOR.cluster().isLabelledLeader("demo-master-1")).isTrue();
        int told = OPERATOR.masters().goneLeaders().size();
        OPERATOR.restart();
        OPERATOR.cluster().runAgain("demo-master-0");
        OPERATOR.masters().say("demo-master-0", ScriptedMasters.standby("demo-master-0", 2));
        pool.apply("{paused: true, storage: [{name: default, capacity: 1Gi}]}").awaitPhase(PoolPhase.PAUSED);
        assertThat(pool.status().lastFailover()).isEqualTo(expected);
        assertThat(OPERATOR.masters().goneLeaders()).hasSize(told);
        assertThat(pool.notes(EventReason.LEADER_DIED)).hasSize(1);
        assertThat(pool.notes(EventReason.FAILED_OVER))
                .containsExactly(
                        "demo-master-1 leads in epoch 2 after demo-master-0: the leader died. There was no leader for 57ms.");
    }
}
