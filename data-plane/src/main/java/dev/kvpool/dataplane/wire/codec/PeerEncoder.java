// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.wire.AuthorityEncoder;
import dev.kvpool.wire.CommandAckEncoder;
import dev.kvpool.wire.DirectoryRecordsEncoder;
import dev.kvpool.wire.ExistsRequestEncoder;
import dev.kvpool.wire.FenceAckEncoder;
import dev.kvpool.wire.Flag;
import dev.kvpool.wire.GrantRequestEncoder;
import dev.kvpool.wire.LookupRequestEncoder;
import dev.kvpool.wire.MessageHeaderEncoder;
import dev.kvpool.wire.ObjectIdEncoder;
import dev.kvpool.wire.PublishRequestEncoder;
import dev.kvpool.wire.RecordKind;
import dev.kvpool.wire.RemoveRequestEncoder;
import java.util.List;
import org.agrona.ExpandableArrayBuffer;

/** Writes what nodes and clients send while a leader serves: the other side of {@link MessageDecoder}, for the warm-up. */
public class PeerEncoder {
    final MessageHeaderEncoder header = new MessageHeaderEncoder();
    final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer();

    /** The body of a frame. */
    public final byte[] encode(Message message) {
        byte[] body = new byte[write(message)];
        buffer.getBytes(0, body);
        return body;
    }

    /** Writes the message to the buffer; its length. */
    int write(Message message) {
        return switch (message) {
            case Changes it -> records(RecordKind.DELTA, it.sequence(), it.records());
            case FenceAck it -> fenceAck(it);
            case CommandAck it -> commandAck(it);
            case GrantRequest it -> grant(it);
            case PublishRequest it -> publish(it);
            case LookupRequest it -> lookup(it);
            case ExistsRequest it -> exists(it);
            case RemoveRequest it -> remove(it);
            default -> new MessageEncoder().encode(message, buffer);
        };
    }

    final int records(RecordKind kind, long sequence, List<DirectoryRecord> lines) {
        DirectoryRecordsEncoder encoder = new DirectoryRecordsEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .kind(kind)
                .sequence(sequence);
        DirectoryRecordsEncoder.RecordsEncoder records = encoder.recordsCount(lines.size());
        for (DirectoryRecord line : lines) {
            records.next().state(line.state());
            records.extent()
                    .segment(line.extent().segment())
                    .slot(line.extent().slot())
                    .generation(line.extent().generation());
            id(records.objectId(), line.objectId());
            Retention retention = line.retention();
            records.pins().clear().soft(retention.soft()).hard(retention.hard());
            records.offset(line.offset())
                    .extentBytes(line.extentBytes())
                    .payloadLength(line.payloadLength())
                    .payloadCrc(Integer.toUnsignedLong(line.payloadCrc()))
                    .softPinMs(retention.softMs())
                    .group(retention.group())
                    .putKey(line.key().bytes(), 0, line.key().length());
        }
        return encoder.limit();
    }

    private int fenceAck(FenceAck it) {
        FenceAckEncoder ack = new FenceAckEncoder().wrapAndApplyHeader(buffer, 0, header);
        ack.requestId(it.requestId()).accepted(flag(it.accepted()));
        authority(ack.seen(), it.seen());
        id(ack.purgeId(), it.purgeId());
        return ack.incarnation(it.incarnation())
                .sequence(it.sequence())
                .objectLeaseMaxMs(it.objectLeaseMaxMs())
                .limit();
    }

    private int commandAck(CommandAck it) {
        CommandAckEncoder ack = new CommandAckEncoder().wrapAndApplyHeader(buffer, 0, header);
        ack.requestId(it.requestId()).accepted(flag(it.accepted()));
        authority(ack.seen(), it.seen());
        return ack.status(it.status().code()).limit();
    }

    private int grant(GrantRequest it) {
        GrantRequestEncoder grant = new GrantRequestEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .replicas((short) it.replicas())
                .deadlineMs(it.deadlineMs())
                .replace(flag(it.replace()));
        GrantRequestEncoder.KeysEncoder keys = grant.keysCount(it.keys().size());
        for (GrantKey key : it.keys()) {
            Retention retention = key.retention();
            keys.next()
                    .pins()
                    .clear()
                    .soft(retention.soft())
                    .hard(retention.hard())
                    .keepSoft(key.keepsSoftPin());
            keys.softPinMs(retention.softMs())
                    .group(retention.group())
                    .payloadLength(key.payloadLength())
                    .putKey(key.key().bytes(), 0, key.key().length());
        }
        return grant.preferredNodes(it.preferredNodes()).limit();
    }

    private int publish(PublishRequest it) {
        PublishRequestEncoder publish = new PublishRequestEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId());
        PublishRequestEncoder.ObjectsEncoder objects =
                publish.objectsCount(it.puts().size());
        for (Put put : it.puts()) {
            id(objects.next().objectId(), put.objectId());
            objects.outcome(put.outcome());
            PublishRequestEncoder.ObjectsEncoder.ReplicasEncoder replicas =
                    objects.replicasCount(put.incarnations().size());
            put.incarnations().forEach(incarnation -> replicas.next().incarnation(incarnation));
            objects.putKey(put.key().bytes(), 0, put.key().length());
        }
        return publish.limit();
    }

    private int lookup(LookupRequest it) {
        LookupRequestEncoder lookup =
                new LookupRequestEncoder().wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        LookupRequestEncoder.KeysEncoder keys = lookup.keysCount(it.keys().size());
        it.keys().forEach(key -> keys.next().putKey(key.bytes(), 0, key.length()));
        return lookup.limit();
    }

    private int exists(ExistsRequest it) {
        ExistsRequestEncoder exists =
                new ExistsRequestEncoder().wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        ExistsRequestEncoder.KeysEncoder keys = exists.keysCount(it.keys().size());
        it.keys().forEach(key -> keys.next().putKey(key.bytes(), 0, key.length()));
        return exists.limit();
    }

    private int remove(RemoveRequest it) {
        RemoveRequestEncoder remove = new RemoveRequestEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .force(flag(it.force()))
                .ofGroup(flag(it.ofGroup()));
        RemoveRequestEncoder.KeysEncoder keys = remove.keysCount(it.keys().size());
        for (Key key : it.keys()) {
            keys.next().putKey(key.bytes(), 0, key.length());
        }
        return remove.node(it.node()).limit();
    }

    static void authority(AuthorityEncoder encoder, Authority authority) {
        encoder.epoch(authority.epoch()).nonce(authority.nonce());
    }

    static void id(ObjectIdEncoder encoder, ObjectId id) {
        encoder.epoch(id.epoch()).counter(id.counter());
    }

    static Flag flag(boolean on) {
        return on ? Flag.YES : Flag.NO;
    }
}
