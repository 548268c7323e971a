// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.SchedulingSpec;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.Affinity;
import io.fabric8.kubernetes.api.model.AffinityBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;

/** Where pods may run. */
public final class Placement {
    private static final int PREFERENCE = 100;

    private Placement() {}

    public static PodSpecBuilder apply(PodSpecBuilder pod, SchedulingSpec wish, String pool, String role) {
        return pod.withNodeSelector(wish.nodeSelector().isEmpty() ? null : wish.nodeSelector())
                .withTolerations(wish.tolerations())
                .withAffinity(wish.affinity() == null ? spread(pool, role) : wish.affinity())
                .withPriorityClassName(wish.priorityClassName())
                .withSchedulerName(wish.schedulerName());
    }

    /** Pods of one role prefer different nodes, so that a lost node costs as little as possible. */
    private static Affinity spread(String pool, String role) {
        return new AffinityBuilder()
                .withNewPodAntiAffinity()
                .addNewPreferredDuringSchedulingIgnoredDuringExecution()
                .withWeight(PREFERENCE)
                .withNewPodAffinityTerm()
                .withTopologyKey("kubernetes.io/hostname")
                .withNewLabelSelector()
                .withMatchLabels(PoolLabels.selectRole(pool, role))
                .endLabelSelector()
                .endPodAffinityTerm()
                .endPreferredDuringSchedulingIgnoredDuringExecution()
                .endPodAntiAffinity()
                .build();
    }
}
