// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.PoolSecurity;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a pool is called, and how its masters are asked. */
class PoolObservationTest {
    /** As `kubectl kvpool status` reads it. */
    @Test
    void anExcerptWithoutASpecKnowsWhichMastersAreSecureAndNoRoots() {
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
        PoolObservation seen = seen(List.of(), List.of(ObservedPod.of(master)));

        assertThat(seen.endpoint("demo-master-0").identity())
                .contains(new MasterEndpoint.Identity("demo", "u", "demo-master-0", ""));
    }

    @Test
    void theIdentityIsThatOfOwnObjectsOrElseOfRetainedOnes() {
        HasMetadata own = child("own", "u");
        HasMetadata retained = child("retained");
        HasMetadata others = child("of-a-deleted-pool", "another");
        HasMetadata silent = new ConfigMapBuilder()
                .withNewMetadata()
                .withName("silent")
                .endMetadata()
                .build();

        assertThat(poolId(others, retained, own)).isEqualTo("own");
        assertThat(poolId(others, silent, retained)).isEqualTo("retained");
        assertThat(poolId(others, silent)).isEqualTo("u");
        assertThat(poolId()).isEqualTo("u");
    }

    private static String poolId(HasMetadata... children) {
        return seen(List.of(children), List.of()).poolId();
    }

    /** An object of the pool of this id, with owners. */
    private static HasMetadata child(String poolId, String... owners) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName(poolId)
                .addToAnnotations(PoolLabels.POOL_ID, poolId)
                .withOwnerReferences(Arrays.stream(owners)
                        .map(uid -> new OwnerReferenceBuilder()
                                .withKind(KvCachePool.KIND)
                                .withUid(uid)
                                .build())
                        .toList())
                .endMetadata()
                .build();
    }

    private static PoolObservation seen(List<HasMetadata> children, List<ObservedPod> pods) {
        KvCachePool pool = new KvCachePool();
        pool.setMetadata(pool.getMetadata().toBuilder()
                .withName("demo")
                .withNamespace("inference")
                .withUid("u")
                .build());
        pool.setSpec(null);
        return new PoolObservation(
                pool,
                List.of(),
                children,
                pods,
                List.of(),
                PoolObservation.Surroundings.UNSEEN,
                PoolObservation.Masters.unasked(Optional.empty()),
                Instant.EPOCH,
                Instant.EPOCH);
    }
}
