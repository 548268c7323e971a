// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.Workloads;
import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Optional;

/**
 * The certificate authority that a pool had before others made its certificates. Nothing needs it once masters have those: all pods were without
 * certificates before. A pool in mode Off keeps its authority, which it needs again with another mode. Pure.
 */
final class FormerAuthority {
    private FormerAuthority() {}

    /** The ConfigMap POOL-trust that can go; Kubernetes deletes with it what belongs to it, and so the keys. */
    static Optional<HasMetadata> of(PoolObservation seen) {
        boolean isFormer = seen.spec().security().directory().isPresent()
                && isOfDirectory(seen)
                && seen.pods(PoolLabels.ROLE_MASTER).stream()
                        .noneMatch(master -> master.security().isOn() && !master.ofDirectory());
        return seen.children().stream()
                .filter(child -> isFormer
                        && child instanceof ConfigMap
                        && child.getMetadata().getName().equals(seen.names().trust()))
                .findFirst();
    }

    /** Whether no master begins any more with a key of the pool's own authority. */
    private static boolean isOfDirectory(PoolObservation seen) {
        return seen.children().stream()
                .filter(child ->
                        child.getMetadata().getName().equals(seen.names().masters()))
                .flatMap(child -> Workloads.template(child).stream())
                .anyMatch(template -> PoolLabels.OF_DIRECTORY.equals(
                        template.getMetadata().getAnnotations().get(PoolLabels.CERTIFICATES)));
    }
}
