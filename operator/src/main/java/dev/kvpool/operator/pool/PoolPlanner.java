// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.StorageSetSpec;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.api.v1alpha1.TransferEngineSpec;
import dev.kvpool.operator.pool.child.ClientConfigMap;
import dev.kvpool.operator.pool.child.LeadershipLease;
import dev.kvpool.operator.pool.child.MasterRole;
import dev.kvpool.operator.pool.child.MasterRoleBinding;
import dev.kvpool.operator.pool.child.MasterServiceAccount;
import dev.kvpool.operator.pool.child.MasterStatefulSet;
import dev.kvpool.operator.pool.child.PoolConfigMap;
import dev.kvpool.operator.pool.child.PoolService;
import dev.kvpool.operator.pool.child.StorageDaemonSet;
import dev.kvpool.operator.pool.child.StorageStatefulSet;
import dev.kvpool.operator.status.Finding;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Decides what shall be done for a pool, from one observation. Pure: the same observation gives the same plan.
 *
 * <p>With a paused pool, or a spec that cannot be carried out, no object is touched; only the leader label still
 * follows the leader, because a pool must survive the death of a master also then.
 */
public final class PoolPlanner {
    private final OperatorSettings settings;

    public PoolPlanner(OperatorSettings settings) {
        this.settings = settings;
    }

    /**
     * Decides.
     *
     * @param problems why the spec cannot be carried out; empty when it can
     */
    public PoolPlan plan(PoolObservation seen, List<Finding> problems) {
        StoragePlan storage = StoragePlan.of(seen);
        if (!problems.isEmpty() || seen.spec().paused()) {
            return new PoolPlan(
                    List.of(),
                    List.of(),
                    List.of(),
                    leaderPod(seen),
                    storage.expectedNodes().size(),
                    List.of(),
                    List.of());
        }
        return new PoolPlan(
                children(blueprint(seen, storage), storage),
                storage.delete(),
                storage.replace(),
                leaderPod(seen),
                storage.expectedNodes().size(),
                storage.heldBack(),
                storage.leftOut());
    }

    private PoolBlueprint blueprint(PoolObservation seen, StoragePlan storage) {
        return new PoolBlueprint(
                seen.names(),
                seen.pool().getMetadata().getUid(),
                poolId(seen),
                seen.spec(),
                seen.engine().map(TransferEngine::getSpec).orElse(TransferEngineSpec.DEFAULTS),
                PoolImage.reference(seen.spec(), settings),
                PortPlan.of(seen).ports(),
                ExpectedNode.of(storage.expectedNodes(), seen));
    }

    /** A pool that takes over retained objects keeps their identity; storage nodes refuse another one. */
    private static String poolId(PoolObservation seen) {
        return seen.children().stream()
                .map(child -> child.getMetadata().getAnnotations())
                .filter(Objects::nonNull)
                .map(annotations -> annotations.get(PoolLabels.POOL_ID))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(seen.pool().getMetadata().getUid());
    }

    /** Rights and names first, so that pods find them when they start. */
    private static List<HasMetadata> children(PoolBlueprint pool, StoragePlan storage) {
        List<HasMetadata> children = new ArrayList<>(List.of(
                MasterServiceAccount.of(pool),
                MasterRole.of(pool),
                MasterRoleBinding.of(pool),
                LeadershipLease.of(pool),
                PoolConfigMap.of(pool),
                ClientConfigMap.of(pool),
                PoolService.masters(pool),
                PoolService.leader(pool),
                PoolService.storage(pool),
                MasterStatefulSet.of(pool)));
        for (StorageSetSpec set : pool.spec().storage()) {
            children.add(
                    set.perNode() == null
                            ? StorageStatefulSet.of(pool, set, storage.replicas(set))
                            : StorageDaemonSet.of(pool, set, storage.placement(set)));
        }
        return children;
    }

    private static Optional<String> leaderPod(PoolObservation seen) {
        return seen.leadership()
                .map(Leadership::pod)
                .filter(pod -> seen.pods(PoolLabels.ROLE_MASTER).stream()
                        .anyMatch(master -> master.name().equals(pod)));
    }
}
