// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import java.time.Duration;

/**
 * What came of a visit to one storage node.
 *
 * @param node where the leader says it is
 * @param tcp at its data port
 * @param sharedMemory at its unix socket, when it is on this machine
 */
record NodeAnswer(StorageNode node, Outcome tcp, Outcome sharedMemory) {
    /** What can come of one way to a node. */
    enum Way {
        /** The node itself has answered. */
        OPEN,
        /** It was not tried: the node does not offer it, or only to its own machine. */
        NOT_TRIED,
        /** A host name that nobody here can resolve, or no address at all. */
        UNKNOWN_NAME,
        /** A path that does not exist here. */
        MISSING,
        /** The kernel does not let this user. */
        FORBIDDEN,
        /** Somebody answers that nobody listens. */
        REFUSED,
        /** Nobody answers. */
        SILENT,
        /** Another process than the leader's node answers there. */
        SOMEBODY_ELSE,
        /** The node answers, and does not want a client of this version. */
        TURNED_AWAY
    }

    /**
     * One way to a node.
     *
     * @param cause the words of whoever said no; empty when nobody did
     * @param took from the dial to the answer
     */
    record Outcome(Way way, String cause, Duration took) {
        static final Outcome NOT_TRIED = new Outcome(Way.NOT_TRIED, "", Duration.ZERO);

        static Outcome of(Way way, String cause) {
            return new Outcome(way, cause, Duration.ZERO);
        }

        static Outcome of(Welcome welcome, StorageNode node, Duration took) {
            // Checked by the node as well, if it is one: by the incarnation in our Hello.
            boolean itself = welcome.incarnation() == node.incarnation();
            return itself
                    ? new Outcome(Way.OPEN, "", took)
                    : new Outcome(Way.SOMEBODY_ELSE, welcome.name() + " answers there", took);
        }

        static Outcome of(Refused refused, Duration took) {
            return switch (refused.code()) {
                case IDENTITY_MISMATCH, POOL_MISMATCH -> new Outcome(Way.SOMEBODY_ELSE, refused.message(), took);
                default -> new Outcome(Way.TURNED_AWAY, refused.message(), took);
            };
        }
    }
}
