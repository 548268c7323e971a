// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Map;

/**
 * Which pod it is.
 *
 * @param name its name
 * @param uid its UID
 * @param role master or storage
 * @param set its storage set; empty for a master
 * @param perNode true for a storage pod of a perNode set
 */
public record PodIdentity(String name, String uid, String role, String set, boolean perNode) {
    static PodIdentity of(Pod pod, Map<String, String> labels) {
        return new PodIdentity(
                pod.getMetadata().getName(),
                pod.getMetadata().getUid(),
                labels.getOrDefault(PoolLabels.ROLE, ""),
                labels.getOrDefault(PoolLabels.SET, ""),
                isOfDaemonSet(pod));
    }

    private static boolean isOfDaemonSet(Pod pod) {
        return pod.getMetadata().getOwnerReferences().stream().anyMatch(owner -> "DaemonSet".equals(owner.getKind()));
    }
}
