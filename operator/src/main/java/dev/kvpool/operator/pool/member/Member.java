// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.member;

import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A master or storage node with a pod.
 *
 * @param observed its pod
 * @param master whether it is a master
 * @param where whether it is where it can be reached
 * @param outlives whether what it holds is there again when its pod has been replaced
 * @param node the storage node as the leader sees it; empty for a master, and while the leader does not know it
 */
public record Member(
        ObservedPod observed, boolean master, Where where, boolean outlives, Optional<PoolReport.Node> node) {

    /** Where a pod is. */
    public enum Where {
        /** On a Kubernetes node that is well, or about to be on one. */
        PLACED,
        /** Kubernetes has found no node for it. */
        WITHOUT_NODE,
        /** Its Kubernetes node is not ready. */
        ON_LOST_NODE
    }

    /** Id of a storage node, the pod's name for a master. */
    public String id() {
        return master ? observed.name() : observed.nodeId();
    }

    /** Name of its pod. */
    public String pod() {
        return observed.name();
    }

    public String uid() {
        return observed.uid();
    }

    /** The image its pod shall run. */
    public String image() {
        return observed.image();
    }

    public boolean runs(String target) {
        return image().equals(target);
    }

    /** What it ran until now, for a step; empty when nothing did, null when the kubelet does not say. */
    public String ran() {
        return observed.running().isEmpty() && started() ? null : observed.running();
    }

    /** False while its container has never run. */
    public boolean started() {
        return observed.started();
    }

    /** Whether its container runs now. */
    public boolean alive() {
        return ready() || observed.runningSince().isPresent();
    }

    /** One that is being deleted is not. */
    public boolean ready() {
        return observed.ready();
    }

    /** Its pod is being deleted. */
    public boolean leaving() {
        return observed.leaving();
    }

    /** It has run and is not being deleted, so that it holds what it held. */
    public boolean isThere() {
        return started() && !leaving();
    }

    /** It is not known when it can do something again. One that is being deleted comes back soon, unless its Kubernetes node is lost. */
    public boolean isGone() {
        return where != Where.PLACED;
    }

    /** The leader knows the storage node, and it is so. */
    public boolean isSeen(Predicate<PoolReport.Node> so) {
        return node.filter(so).isPresent();
    }

    /** It gives what it holds, also while it is emptied. */
    public boolean serves() {
        return ready() && isSeen(PoolReport.Node::serves);
    }

    /** Memory is empty before the first process; else the leader must have met the one that is, or was, there. */
    public boolean holdsNothing() {
        return (!started() && !outlives)
                || isSeen(
                        it -> !it.incarnation().isEmpty() && !it.syncing() && it.objects() == 0 && it.usedBytes() == 0);
    }

    /** It is there, and nothing was put into it, or all of that is gone. */
    public boolean isThereWithNothing() {
        return isThere() && holdsNothing();
    }

    /** Why it is not ready, as the end of a sentence; may be empty. */
    public String trouble() {
        return observed.trouble();
    }

    /** Why it is not there, as the end of a sentence. */
    public String why() {
        return where == Where.ON_LOST_NODE ? "its Kubernetes node is not ready" : trouble();
    }
}
