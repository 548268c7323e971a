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
 * @param specImage what its container is asked to run for that, as admission has written it
 * @param running the image its container runs or ran last, as the kubelet names it; empty while none has run
 * @param restarts how often its container was started anew
 * @param started false while none of its containers has ever run
 * @param alive whether its container runs now
 * @param ready as the kubelet says
 * @param leaving true when its pod is being deleted
 * @param where whether it is where it can be reached
 * @param outlives whether what it holds is there again when its pod has been made anew
 * @param trouble why it is not ready, as the end of a sentence; may be empty
 */
public record Instance(
        String pod,
        String uid,
        String id,
        String image,
        String specImage,
        String running,
        int restarts,
        boolean started,
        boolean alive,
        boolean ready,
        boolean leaving,
        Where where,
        boolean outlives,
        String trouble) {

    /** Where a pod is. */
    public enum Where {
        /** On a node of the cluster that is well, or about to be on one. */
        PLACED,
        /** Kubernetes has found no node for it. */
        WITHOUT_NODE,
        /** Its node is not ready. */
        ON_LOST_NODE
    }

    /** Steps that an earlier operator began name the pod alone. */
    boolean isSubjectOf(RollStepStatus step) {
        return step.node() == null ? pod.equals(step.pod()) : id.equals(step.node());
    }

    /** What it ran until now, for a step; empty when nothing did, null when the kubelet does not say. */
    String ran() {
        return running.isEmpty() && started ? null : running;
    }

    boolean runs(String target) {
        return image.equals(target);
    }

    /** Nobody knows when it can do something again. One that is being deleted comes back soon, unless its node is lost. */
    boolean isGone() {
        return where != Where.PLACED;
    }

    /** Why it is not there, as the end of a sentence. */
    String why() {
        return where == Where.ON_LOST_NODE ? "its node of the cluster is not ready" : trouble;
    }
}
