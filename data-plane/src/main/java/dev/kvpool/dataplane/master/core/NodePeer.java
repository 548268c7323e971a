// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

/** Who dialled as a storage node, from its Hello. */
public record NodePeer(String id, long incarnation, String product) {
    @Override
    public String toString() {
        return "node " + id + " (incarnation " + String.format("%016x", incarnation) + ", kvpool " + product + ")";
    }
}
