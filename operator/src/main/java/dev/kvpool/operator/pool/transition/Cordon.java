// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

/**
 * A storage node is on a Kubernetes node that is cordoned, or has a taint that counts as that.
 *
 * @param host that node's name
 * @param taint key of that taint; empty where the node is cordoned
 * @param evicts whether Kubernetes evicts its pod from there, and so a person waits: those of DaemonSets stay
 * @param keeps whether what it holds is there again when its pod is
 */
public record Cordon(String host, String taint, boolean evicts, boolean keeps) {}
