// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeLeaves;
import dev.kvpool.wire.CertificateProofDecoder;
import dev.kvpool.wire.CertificateProvenDecoder;
import dev.kvpool.wire.CommandAckDecoder;
import dev.kvpool.wire.CopyRequestDecoder;
import dev.kvpool.wire.DirectoryRecordsDecoder;
import dev.kvpool.wire.ExistsRequestDecoder;
import dev.kvpool.wire.FenceAckDecoder;
import dev.kvpool.wire.GrantRequestDecoder;
import dev.kvpool.wire.HeartbeatDecoder;
import dev.kvpool.wire.HelloDecoder;
import dev.kvpool.wire.HintRequestDecoder;
import dev.kvpool.wire.LeaderGoneDecoder;
import dev.kvpool.wire.LookupRequestDecoder;
import dev.kvpool.wire.MessageHeaderDecoder;
import dev.kvpool.wire.NodeInfoDecoder;
import dev.kvpool.wire.NodeLeavesDecoder;
import dev.kvpool.wire.NodeStatsDecoder;
import dev.kvpool.wire.PublishRequestDecoder;
import dev.kvpool.wire.RemoveAllRequestDecoder;
import dev.kvpool.wire.RemoveRequestDecoder;
import dev.kvpool.wire.SnapshotBeginDecoder;
import dev.kvpool.wire.SnapshotEndDecoder;
import dev.kvpool.wire.TaskQueryDecoder;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Reads what nodes and clients send to a master. Not thread safe: one per event loop. */
public final class MessageDecoder {
    private final MessageHeaderDecoder header = new MessageHeaderDecoder();
    private final UnsafeBuffer body;
    private final HandshakeDecoder handshakes = new HandshakeDecoder();
    private final NodeMessageDecoder nodes = new NodeMessageDecoder();
    private final ClientRequestDecoder clients = new ClientRequestDecoder();

    public MessageDecoder() {
        this(new UnsafeBuffer(0, 0));
    }

    /** @param view through which every field is read; a test's own may count */
    MessageDecoder(UnsafeBuffer view) {
        body = view;
    }

    /**
     * Reads one message.
     *
     * @param buffer holds the body of one frame
     * @throws MalformedMessageException when the bytes are no message a master takes; names what is wrong
     */
    public Message decode(DirectBuffer buffer, int offset, int length) throws MalformedMessageException {
        if (length < MessageHeaderDecoder.ENCODED_LENGTH) {
            throw new MalformedMessageException("a body of " + length + " bytes is shorter than a message header");
        }
        // The view ends where the body ends, so that no field is ever read from behind it.
        body.wrap(buffer, offset, length);
        header.wrap(body, 0);
        if (header.schemaId() != MessageHeaderDecoder.SCHEMA_ID) {
            throw new MalformedMessageException("schema " + header.schemaId() + " is not "
                    + MessageHeaderDecoder.SCHEMA_ID + ", the one of kvpool");
        }
        int template = header.templateId();
        try {
            return byTemplate(template);
        } catch (IndexOutOfBoundsException | IllegalArgumentException | IllegalStateException e) {
            throw new MalformedMessageException(
                    "message of template " + template + " is cut off or has a field out of range", e);
        }
    }

    private Message byTemplate(int template) throws MalformedMessageException {
        return switch (template) {
            case HelloDecoder.TEMPLATE_ID -> handshakes.hello(body, sized(HelloDecoder.BLOCK_LENGTH));
            case HeartbeatDecoder.TEMPLATE_ID -> handshakes.heartbeat(body, sized(HeartbeatDecoder.BLOCK_LENGTH));
            case CertificateProofDecoder.TEMPLATE_ID ->
                handshakes.proof(body, sized(CertificateProofDecoder.BLOCK_LENGTH));
            case CertificateProvenDecoder.TEMPLATE_ID ->
                handshakes.proven(body, sized(CertificateProvenDecoder.BLOCK_LENGTH));
            case NodeInfoDecoder.TEMPLATE_ID -> nodes.info(body, sized(NodeInfoDecoder.BLOCK_LENGTH));
            case SnapshotBeginDecoder.TEMPLATE_ID ->
                nodes.snapshotBegin(body, sized(SnapshotBeginDecoder.BLOCK_LENGTH));
            case DirectoryRecordsDecoder.TEMPLATE_ID ->
                nodes.records(body, sized(DirectoryRecordsDecoder.BLOCK_LENGTH));
            case SnapshotEndDecoder.TEMPLATE_ID -> nodes.snapshotEnd(body, sized(SnapshotEndDecoder.BLOCK_LENGTH));
            case NodeStatsDecoder.TEMPLATE_ID -> nodes.stats(body, sized(NodeStatsDecoder.BLOCK_LENGTH));
            case FenceAckDecoder.TEMPLATE_ID -> nodes.fenceAck(body, sized(FenceAckDecoder.BLOCK_LENGTH));
            case CommandAckDecoder.TEMPLATE_ID -> nodes.commandAck(body, sized(CommandAckDecoder.BLOCK_LENGTH));
            case LeaderGoneDecoder.TEMPLATE_ID -> nodes.leaderGone(body, sized(LeaderGoneDecoder.BLOCK_LENGTH));
            case NodeLeavesDecoder.TEMPLATE_ID -> new NodeLeaves();
            case GrantRequestDecoder.TEMPLATE_ID -> clients.grant(body, sized(GrantRequestDecoder.BLOCK_LENGTH));
            case PublishRequestDecoder.TEMPLATE_ID -> clients.publish(body, sized(PublishRequestDecoder.BLOCK_LENGTH));
            case LookupRequestDecoder.TEMPLATE_ID -> clients.lookup(body, sized(LookupRequestDecoder.BLOCK_LENGTH));
            case ExistsRequestDecoder.TEMPLATE_ID -> clients.exists(body, sized(ExistsRequestDecoder.BLOCK_LENGTH));
            case RemoveRequestDecoder.TEMPLATE_ID -> clients.remove(body, sized(RemoveRequestDecoder.BLOCK_LENGTH));
            case RemoveAllRequestDecoder.TEMPLATE_ID ->
                clients.removeAll(body, sized(RemoveAllRequestDecoder.BLOCK_LENGTH));
            case HintRequestDecoder.TEMPLATE_ID -> clients.hint(body, sized(HintRequestDecoder.BLOCK_LENGTH));
            case CopyRequestDecoder.TEMPLATE_ID -> clients.copy(body, sized(CopyRequestDecoder.BLOCK_LENGTH));
            case TaskQueryDecoder.TEMPLATE_ID -> clients.query(body, sized(TaskQueryDecoder.BLOCK_LENGTH));
            default -> throw new MalformedMessageException("template " + template + " is none a master takes");
        };
    }

    /** The header, once its block is known to hold every field of version 1: a shorter one would alias what follows. */
    private MessageHeaderDecoder sized(int blockLength) throws MalformedMessageException {
        if (header.blockLength() < blockLength) {
            throw new MalformedMessageException("message of template " + header.templateId() + " has a block of "
                    + header.blockLength() + " bytes, less than " + blockLength);
        }
        return header;
    }
}
