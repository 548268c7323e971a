// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.PoolSecurity;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** How masters are asked. */
class PoolObservationTest {
    /** As `kubectl kvpool status` reads it. */
    @Test
    void anExcerptWithoutASpecKnowsWhichMastersAreSecureAndNoRoots() {
        KvCachePool pool = new KvCachePool();
        pool.setMetadata(pool.getMetadata().toBuilder()
                .withName("demo")
                .withNamespace("inference")
                .withUid("u")
                .build());
        pool.setSpec(null);
        Pod master = new PodBuilder()
                .withNewMetadata()
                .withName("demo-master-0")
                .addToLabels(PoolLabels.ROLE, PoolLabels.ROLE_MASTER)
                .addToAnnotations(PoolLabels.TLS, PoolSecurity.word(SecurityMode.REQUIRED))
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .withNewStatus()
                .endStatus()
                .build();
        PoolObservation seen = new PoolObservation(
                pool,
                List.of(),
                List.of(),
                List.of(ObservedPod.of(master)),
                List.of(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Map.of(),
                Instant.EPOCH,
                Instant.EPOCH);

        assertThat(seen.endpoint("demo-master-0").identity())
                .contains(new MasterEndpoint.Identity("demo", "u", "demo-master-0", ""));
    }
}
