// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.Workloads;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Optional;

/**
 * The certificate authority that a pool had before others made its certificates. Nothing needs it once a master serves with those and no pod is
 * left that may still have one of the pool's own: one that is ready knows that master. A pool in mode Off keeps its authority, which it needs
 * again with another mode. Pure.
 */
final class FormerAuthority {
    private FormerAuthority() {}

    /** The ConfigMap POOL-trust that can go; Kubernetes deletes with it what belongs to it, and so the keys. */
    static Optional<HasMetadata> of(PoolObservation seen) {
        boolean isFormer = seen.spec().security().directory().isPresent()
                && isOfDirectory(seen)
                && seen.pods(PoolLabels.ROLE_MASTER).stream().anyMatch(master -> master.ofDirectory() && master.ready())
                && seen.pods().stream().filter(pod -> pod.security().isOn()).noneMatch(FormerAuthority::mayHaveOne);
        return seen.children().stream()
                .filter(child -> isFormer
                        && child instanceof ConfigMap
                        && child.getMetadata().getName().equals(seen.names().trust()))
                .findFirst();
    }

    private static boolean mayHaveOne(ObservedPod pod) {
        return pod.role().equals(PoolLabels.ROLE_MASTER) ? !pod.ofDirectory() : !pod.ready();
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
