// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.LabelSelectorBuilder;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudgetBuilder;

/** How many pods of a pool may be evicted at a time, as by the drain of a Kubernetes node. */
public final class PoolDisruptionBudget {
    /** A label that Kubernetes gives the pods of StatefulSets. */
    private static final String OF_STATEFUL_SET = "statefulset.kubernetes.io/pod-name";

    private PoolDisruptionBudget() {}

    /**
     * One master at a time. More need not stay: masters hold no votes, the Lease decides, and any one of them serves the
     * whole pool. A single master may go too, since it comes back with nothing lost; and one that is not ready always may.
     */
    public static PodDisruptionBudget masters(PoolBlueprint pool) {
        return new PodDisruptionBudgetBuilder()
                .withMetadata(pool.metadata(
                        pool.names().masters(), PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_MASTER)))
                .withNewSpec()
                .withMaxUnavailable(new IntOrString(1))
                .withUnhealthyPodEvictionPolicy("AlwaysAllow")
                .withNewSelector()
                .withMatchLabels(PoolLabels.selectRole(pool.names().pool(), PoolLabels.ROLE_MASTER))
                .endSelector()
                .endSpec()
                .build();
    }

    /**
     * No storage pod is evicted before the operator has labelled it, which it does when nothing is lost with it. A budget that
     * is open until then would be too late: the drain of a node evicts in the same moment in which it cordons. Pods of perNode
     * sets are left out: pods of a DaemonSet are not evicted, and Kubernetes refuses a whole budget that selects one.
     */
    public static PodDisruptionBudget storage(PoolBlueprint pool) {
        return new PodDisruptionBudgetBuilder()
                .withMetadata(pool.metadata(
                        pool.names().storage(), PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_STORAGE)))
                .withNewSpec()
                .withMaxUnavailable(new IntOrString(0))
                .withSelector(new LabelSelectorBuilder()
                        .withMatchLabels(PoolLabels.selectRole(pool.names().pool(), PoolLabels.ROLE_STORAGE))
                        .addNewMatchExpression()
                        .withKey(OF_STATEFUL_SET)
                        .withOperator("Exists")
                        .endMatchExpression()
                        .addNewMatchExpression()
                        .withKey(PoolLabels.EVICTABLE)
                        .withOperator("DoesNotExist")
                        .endMatchExpression()
                        .build())
                .endSpec()
                .build();
    }
}
