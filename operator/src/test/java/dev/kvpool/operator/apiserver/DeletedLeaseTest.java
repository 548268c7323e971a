// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.status.PoolPhase;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Masters may update their Lease but not create it: when it is deleted, the operator has to, and at once. */
class DeletedLeaseTest {
    /** It is the deletion that wakes the operator. */
    @RegisterExtension
    static final OperatorUnderTest OPERATOR =
            OperatorUnderTest.in("deleted-lease").lookingOnChangesOnly();

    @Test
    void itIsCreatedAgainWithoutAHolderAndTheNextLeaderIsFollowed() {
        PoolUnderTest pool = OPERATOR.make("demo", "{storage: [{name: default, capacity: 1Gi}]}")
                .awaitChildren(15)
                .run();
        awaitLeaderInStatus(pool, "demo-master-0", 1);
        Lease before = lease(pool);

        OPERATOR.client().resource(before).delete();

        await().until(() -> lease(pool) != null
                && !lease(pool)
                        .getMetadata()
                        .getUid()
                        .equals(before.getMetadata().getUid()));
        assertThat(lease(pool).getSpec().getHolderIdentity()).isNull();
        assertThat(lease(pool).getMetadata().getOwnerReferences())
                .as("it goes with its pool")
                .singleElement()
                .satisfies(owner -> assertThat(owner.getName()).isEqualTo("demo"));

        pool.handOver();
        awaitLeaderInStatus(pool, "demo-master-1", 2);
        ClusterActor cluster = OPERATOR.cluster();
        await().until(() -> cluster.isLabelledLeader("demo-master-1") && !cluster.isLabelledLeader("demo-master-0"));
    }

    private static Lease lease(PoolUnderTest pool) {
        return pool.child(Lease.class, "master");
    }

    private static void awaitLeaderInStatus(PoolUnderTest pool, String pod, long epoch) {
        await().untilAsserted(() -> {
            var status = pool.status();
            assertThat(status.phase()).as(status.message()).isEqualTo(PoolPhase.READY);
            assertThat(status.leader().pod()).isEqualTo(pod);
            assertThat(status.leader().epoch()).isEqualTo(epoch);
        });
    }
}
