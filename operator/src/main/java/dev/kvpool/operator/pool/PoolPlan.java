// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.List;
import java.util.Optional;

/**
 * What shall be done for a pool. It holds decisions only; carrying them out needs no further ones.
 *
 * @param apply objects that shall exist, in the order they are made
 * @param delete objects that shall go
 * @param emptyPods storage pods that never ran and wait with outdated settings; they are deleted to be made anew
 * @param leaderPod the pod that shall carry the leader label, alone; empty to take the label from all
 * @param storageNodes how many storage nodes the pool shall have now
 * @param heldBack sentences about parts of the spec that are not carried out, because they would lose bytes
 */
public record PoolPlan(
        List<HasMetadata> apply,
        List<HasMetadata> delete,
        List<ObservedPod> emptyPods,
        Optional<String> leaderPod,
        int storageNodes,
        List<String> heldBack) {

    public PoolPlan {
        apply = List.copyOf(apply);
        delete = List.copyOf(delete);
        emptyPods = List.copyOf(emptyPods);
        heldBack = List.copyOf(heldBack);
    }
}
