// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.pool.drain.DrainPlan;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.roll.RollPlan;
import dev.kvpool.operator.pool.sizing.Sizing;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What shall be done for a pool. It holds decisions only; carrying them out needs no further ones.
 *
 * @param children objects that shall exist; empty when none is touched
 * @param binding a Secret that is made, unless it is there
 * @param delete objects that shall go
 * @param replacePods pods with outdated settings that are deleted to be made anew: masters, and storage nodes that never ran
 *     or of which the spec allows to lose what they hold
 * @param lostPods pods of nodes that are gone, which are removed without waiting for a kubelet
 * @param leaderPod the pod that shall carry the leader label, alone; empty to take the label from all
 * @param evictable names of the storage pods that shall be labelled as ones that may be evicted; no other shall
 * @param deadLeader a leader whose process has ended, of which the other masters are told
 * @param expectedNodes ids of the storage nodes that the pool shall have now
 * @param sizing memory of the pods; empty while no object is touched
 * @param waiting sentences about parts of the spec that are carried out when storage nodes are empty
 * @param heldBack sentences about parts of the spec that are not carried out, because they would lose bytes
 * @param leftOut sentences about nodes of the cluster that a perNode set selects and that get no storage node
 * @param cleaning sentences about directories of nodes that are removed
 * @param roll what is done now for an upgrade
 * @param drains what is done now about storage nodes that are to go
 */
public record PoolPlan(
        Optional<PlannedChildren> children,
        Optional<Secret> binding,
        List<HasMetadata> delete,
        List<ObservedPod> replacePods,
        List<ObservedPod> lostPods,
        Optional<String> leaderPod,
        Set<String> evictable,
        Optional<DeadLeader> deadLeader,
        Set<String> expectedNodes,
        Optional<Sizing> sizing,
        List<String> waiting,
        List<String> heldBack,
        List<String> leftOut,
        List<String> cleaning,
        RollPlan roll,
        DrainPlan drains) {

    public PoolPlan {
        delete = List.copyOf(delete);
        replacePods = List.copyOf(replacePods);
        lostPods = List.copyOf(lostPods);
        evictable = Set.copyOf(evictable);
        expectedNodes = Set.copyOf(expectedNodes);
        waiting = List.copyOf(waiting);
        heldBack = List.copyOf(heldBack);
        leftOut = List.copyOf(leftOut);
        cleaning = List.copyOf(cleaning);
    }

    /** How many storage nodes the pool shall have now. */
    public int storageNodes() {
        return expectedNodes.size();
    }

    /** Objects that shall exist, made for whoever looks at them; in a calm pool nobody needs them. */
    public List<HasMetadata> apply() {
        return children.map(PlannedChildren::make).orElse(List.of());
    }
}
