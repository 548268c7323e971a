// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.member;

/**
 * A storage node is on a Kubernetes node that is cordoned, or has a taint that counts as that, or its NPU there is not well.
 *
 * @param host that node's name
 * @param taint key of that taint; empty where the node is cordoned
 * @param sick its NPUs that are not well, as "NPU 3, which is unhealthy"; empty where they are not the cause
 * @param evicts whether Kubernetes evicts its pod from there, and so a person waits: those of DaemonSets stay
 * @param keeps whether what it holds is there again when its pod is
 */
public record Cordon(String host, String taint, String sick, boolean evicts, boolean keeps) {
    /** Of a Kubernetes node that is cordoned, or tainted. */
    public Cordon(String host, String taint, boolean evicts, boolean keeps) {
        this(host, taint, "", evicts, keeps);
    }

    /**
     * Of a storage node whose NPUs are not well. No person waits for its pod to go, and what its volume keeps is out of reach as
     * well, so all of it is moved.
     */
    static Cordon ofNpus(String host, String sick) {
        return new Cordon(host, "", sick, false, false);
    }

    /** What its Kubernetes node is, or has. */
    public String how() {
        if (!sick.isEmpty()) {
            return "has " + sick;
        }
        return taint.isEmpty() ? "is cordoned" : "has taint " + taint;
    }

    /** How to be rid of it. */
    public String remedy() {
        if (!sick.isEmpty()) {
            return "repair the NPU";
        }
        return taint.isEmpty() ? "uncordon the node" : "remove taint %s from the node".formatted(taint);
    }
}
