// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeCommand;
import dev.kvpool.dataplane.wire.message.NodeMessage;
import org.agrona.MutableDirectBuffer;

/** Writes what a master sends. Not thread safe: one per event loop. */
public final class MessageEncoder {
    private final HandshakeEncoder handshakes = new HandshakeEncoder();
    private final NodeCommandEncoder commands = new NodeCommandEncoder();
    private final ClientReplyEncoder replies = new ClientReplyEncoder();

    /** Writes the body of a frame at the start of {@code buffer}, which grows as needed, and returns its length. */
    public int encode(Message message, MutableDirectBuffer buffer) {
        return switch (message) {
            case HandshakeMessage handshake -> handshakes.encode(handshake, buffer);
            case NodeCommand command -> commands.encode(command, buffer);
            case ClientReply reply -> replies.encode(reply, buffer);
            case NodeMessage received -> throw notOurs(received);
            case ClientRequest received -> throw notOurs(received);
        };
    }

    private static IllegalArgumentException notOurs(Message message) {
        return new IllegalArgumentException(
                "a master never sends " + message.getClass().getSimpleName());
    }
}
