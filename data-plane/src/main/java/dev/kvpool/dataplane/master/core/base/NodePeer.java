// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Optional;

/**
 * Who dialled as a storage node, from its Hello.
 *
 * @param namesPool whether it said which pool it belongs to; only memory within an engine may leave that to the first master
 * @param tenant by its certificate, whose objects alone it may hold if its memory is an engine's; empty without one
 */
public record NodePeer(String id, long incarnation, String product, boolean namesPool, Optional<Tenant> tenant) {
    /** A node that names its pool. */
    public NodePeer(String id, long incarnation, String product) {
        this(id, incarnation, product, true, Optional.empty());
    }

    /**
     * Who sent a Hello.
     *
     * @param tenant by its certificate; empty without one
     */
    public static NodePeer of(Hello hello, Optional<Tenant> tenant) {
        return new NodePeer(
                hello.name(),
                hello.incarnation(),
                hello.versions().product(),
                !hello.poolId().equals(HandshakeMessage.ANY_POOL),
                tenant);
    }

    @Override
    public String toString() {
        return "node " + id + " (incarnation " + String.format("%016x", incarnation) + ", kvpool " + product + ")";
    }
}
