// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.RollStepStatus;

/**
 * A master or storage node, as far as an upgrade is concerned.
 *
 * @param pod name of its pod
 * @param uid UID of its pod
 * @param id node id of a storage node, the pod's name for a master
 * @param image the image its pod shall run
 * @param restarts how often its container was started anew
 * @param started false while none of its containers has ever run
 * @param alive whether its container runs now
 * @param ready as the kubelet says
 * @param leaving true when its pod is being deleted
 * @param trouble why it is not ready, as the end of a sentence; may be empty
 */
public record Instance(
        String pod,
        String uid,
        String id,
        String image,
        int restarts,
        boolean started,
        boolean alive,
        boolean ready,
        boolean leaving,
        String trouble) {

    /** Steps that an earlier operator began name the pod alone. */
    boolean isSubjectOf(RollStepStatus step) {
        return step.node() == null ? pod.equals(step.pod()) : id.equals(step.node());
    }

    boolean runs(String target) {
        return image.equals(target);
    }
}
