// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.member;

import dev.kvpool.api.v1alpha1.status.StepCause;

/**
 * A storage node is on a Kubernetes node that is cordoned, or has a taint that counts as that, or its NPU there is not well, or a user asked
 * that it be empty there.
 *
 * @param host that node's name
 * @param taint key of that taint; empty where the node is cordoned
 * @param sick its NPUs that are not well, as "NPU 3, which is unhealthy"; empty where they are not the cause
 * @param requested whether nothing but a user's request is the cause
 * @param evicts whether Kubernetes evicts its pod from there, and so a person waits: those of DaemonSets stay
 * @param keeps whether what it holds is there again when its pod is
 */
public record Cordon(String host, String taint, String sick, boolean requested, boolean evicts, boolean keeps) {
    /** Of a Kubernetes node that is cordoned, or tainted. */
    public Cordon(String host, String taint, boolean evicts, boolean keeps) {
        this(host, taint, "", false, evicts, keeps);
    }

    /**
     * Of a storage node whose NPUs are not well. No person waits for its pod to go, and what its volume keeps is out of reach as
     * well, so all of it is moved.
     */
    static Cordon ofNpus(String host, String sick) {
        return new Cordon(host, "", sick, false, false, false);
    }

    /** Of a storage node that a user wants empty, for example as its Kubernetes node goes for good. No person waits for its pod to go. */
    public static Cordon ofRequest(String host) {
        return new Cordon(host, "", "", true, false, false);
    }

    /** The same of a storage node that a user wants empty, whatever comes back with its pod. */
    Cordon andRequest() {
        return new Cordon(host, taint, sick, requested, evicts, false);
    }

    /** What a pod that is not evicted keeps on its Kubernetes node is still there after the maintenance. */
    public boolean empties() {
        return evicts || !keeps;
    }

    /** Why the storage node is emptied. */
    public StepCause because() {
        return requested ? StepCause.REQUEST : StepCause.CORDON;
    }

    /** What its Kubernetes node is, or has, or is to have. */
    public String how() {
        if (requested) {
            return "is to have nothing of it, as a user asked";
        }
        if (!sick.isEmpty()) {
            return "has " + sick;
        }
        return taint.isEmpty() ? "is cordoned" : "has taint " + taint;
    }

    /** How to be rid of it. */
    public String remedy() {
        if (requested) {
            return "take the request back with kubectl kvpool drain and --cancel";
        }
        if (!sick.isEmpty()) {
            return "repair the NPU";
        }
        return taint.isEmpty() ? "uncordon the node" : "remove taint %s from the node".formatted(taint);
    }
}
