// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;

/**
 * Who dialled as a storage node, from its Hello.
 *
 * @param namesPool whether it said which pool it belongs to; only memory within an engine may leave that to the first master
 */
public record NodePeer(String id, long incarnation, String product, boolean namesPool) {
    /** A node that names its pool. */
    public NodePeer(String id, long incarnation, String product) {
        this(id, incarnation, product, true);
    }

    public static NodePeer of(Hello hello) {
        return new NodePeer(
                hello.name(),
                hello.incarnation(),
                hello.versions().product(),
                !hello.poolId().equals(HandshakeMessage.ANY_POOL));
    }

    @Override
    public String toString() {
        return "node " + id + " (incarnation " + String.format("%016x", incarnation) + ", kvpool " + product + ")";
    }
}
