// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.PoolPhase;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Masters may update their Lease but not make it: when somebody deletes it, the operator has to, and at once. */
class DeletedLeaseTest {
    private static final String NAMESPACE = "deleted-lease";
    private static final String LEASE = "demo-master";
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int CHILDREN = 15;
    private static final List<String> NODES = List.of("demo-default-0");

    /** Nothing is looked at again by itself within the test, so that it is the deletion that wakes the operator. */
    private static final Duration RARELY = Duration.ofHours(1);

    private static OperatorUnderTest operator;
    private static ClusterActor cluster;

    @BeforeAll
    static void start() {
        operator = new OperatorUnderTest(NAMESPACE, new PollInterval(RARELY, RARELY));
        cluster = new ClusterActor(operator.client(), NAMESPACE);
    }

    @AfterAll
    static void stop() {
        operator.close();
    }

    @Test
    void itIsMadeAgainWithoutAHolderAndTheNextLeaderIsFollowed() {
        operator.applyPool("demo", "{storage: [{name: default, capacity: 1Gi}]}");
        await().atMost(LIMIT)
                .until(() -> Children.of(operator.client(), NAMESPACE, "demo").size() == CHILDREN);
        operator.masters().say("demo-master-0", ScriptedMasters.leader("demo-master-0", 4, 0, NODES));
        operator.masters().say("demo-master-1", ScriptedMasters.standby("demo-master-1", 4));
        cluster.runPodsOf("demo-master");
        cluster.runPodsOf("demo-default");
        cluster.takeLease(LEASE, "demo-master-0", 4);
        awaitLeaderInStatus("demo-master-0", 4);
        String before = lease().getMetadata().getUid();

        operator.client().leases().inNamespace(NAMESPACE).withName(LEASE).delete();

        await().atMost(LIMIT)
                .until(() -> lease() != null && !lease().getMetadata().getUid().equals(before));
        assertThat(lease().getSpec().getHolderIdentity()).isNull();
        assertThat(lease().getMetadata().getOwnerReferences())
                .as("it goes with its pool")
                .singleElement()
                .satisfies(owner -> assertThat(owner.getName()).isEqualTo("demo"));

        operator.masters().say("demo-master-0", ScriptedMasters.standby("demo-master-0", 5));
        operator.masters().say("demo-master-1", ScriptedMasters.leader("demo-master-1", 5, 0, NODES));
        cluster.takeLease(LEASE, "demo-master-1", 5);
        awaitLeaderInStatus("demo-master-1", 5);
        await().atMost(LIMIT)
                .until(() -> cluster.isLabelledLeader("demo-master-1") && !cluster.isLabelledLeader("demo-master-0"));
    }

    private static Lease lease() {
        return operator.client().leases().inNamespace(NAMESPACE).withName(LEASE).get();
    }

    private static void awaitLeaderInStatus(String pod, long epoch) {
        await().atMost(LIMIT).untilAsserted(() -> {
            var status = operator.pool("demo").getStatus();
            assertThat(status.phase()).as(status.message()).isEqualTo(PoolPhase.READY);
            assertThat(status.leader().pod()).isEqualTo(pod);
            assertThat(status.leader().epoch()).isEqualTo(epoch);
        });
    }
}
