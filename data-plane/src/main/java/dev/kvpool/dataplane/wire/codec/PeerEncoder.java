// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantKey;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.Put;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeLeaves;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.wire.AuthorityEncoder;
import dev.kvpool.wire.CommandAckEncoder;
import dev.kvpool.wire.CopyRequestEncoder;
import dev.kvpool.wire.DirectoryRecordsEncoder;
import dev.kvpool.wire.ExistsRequestEncoder;
import dev.kvpool.wire.FenceAckEncoder;
import dev.kvpool.wire.Flag;
import dev.kvpool.wire.GrantRequestEncoder;
import dev.kvpool.wire.HintRequestEncoder;
import dev.kvpool.wire.LeaderGoneEncoder;
import dev.kvpool.wire.LookupRequestEncoder;
import dev.kvpool.wire.MessageHeaderEncoder;
import dev.kvpool.wire.NodeInfoEncoder;
import dev.kvpool.wire.NodeLeavesEncoder;
import dev.kvpool.wire.NodeStatsEncoder;
import dev.kvpool.wire.ObjectIdEncoder;
import dev.kvpool.wire.PublishRequestEncoder;
import dev.kvpool.wire.RecordKind;
import dev.kvpool.wire.RemoveAllRequestEncoder;
import dev.kvpool.wire.RemoveRequestEncoder;
import dev.kvpool.wire.SnapshotBeginEncoder;
import dev.kvpool.wire.SnapshotEndEncoder;
import dev.kvpool.wire.TaskQueryEncoder;
import java.util.List;
import org.agrona.ExpandableArrayBuffer;

/** Writes what nodes and clients send: the other side of {@link MessageDecoder}, for whoever plays a peer in this language. */
public final class PeerEncoder {
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer();

    /** The body of a frame. */
    public byte[] encode(Message message) {
        int length = switch (message) {
            case NodeInfo it -> info(it);
            case SnapshotBegin it ->
                new SnapshotBeginEncoder()
                        .wrapAndApplyHeader(buffer, 0, header)
                        .sequence(it.sequence())
                        .limit();
            case SnapshotRecords it -> records(RecordKind.SNAPSHOT, 0, it.records());
            case Changes it -> records(RecordKind.DELTA, it.sequence(), it.records());
            case SnapshotEnd it ->
                new SnapshotEndEncoder()
                        .wrapAndApplyHeader(buffer, 0, header)
                        .count(it.count())
                        .sequence(it.sequence())
                        .limit();
            case NodeStats it -> stats(it);
            case FenceAck it -> fenceAck(it);
            case CommandAck it -> commandAck(it);
            case LeaderGone it -> leaderGone(it);
            case NodeLeaves it ->
                new NodeLeavesEncoder().wrapAndApplyHeader(buffer, 0, header).limit();
            case GrantRequest it -> grant(it);
            case PublishRequest it -> publish(it);
            case LookupRequest it -> lookup(it);
            case ExistsRequest it -> exists(it);
            case RemoveRequest it -> remove(it);
            case RemoveAllRequest it ->
                new RemoveAllRequestEncoder()
                        .wrapAndApplyHeader(buffer, 0, header)
                        .requestId(it.requestId())
                        .force(flag(it.force()))
                        .pattern(it.pattern())
                        .limit();
            case HintRequest it -> hint(it);
            case CopyRequest it -> copy(it);
            case TaskQuery it ->
                new TaskQueryEncoder()
                        .wrapAndApplyHeader(buffer, 0, header)
                        .requestId(it.requestId())
                        .task(it.task())
                        .limit();
            default -> new MessageEncoder().encode(message, buffer);
        };
        byte[] body = new byte[length];
        buffer.getBytes(0, body);
        return body;
    }

    private int info(NodeInfo it) {
        NodeInfoEncoder info = new NodeInfoEncoder().wrapAndApplyHeader(buffer, 0, header);
        authority(info.seen(), it.seen());
        id(info.purgeId(), it.purgeId());
        info.objectLeaseMaxMs(it.objectLeaseMaxMs());
        id(info.highestObject(), it.highestObject());
        info.isTransient(flag(it.isTransient()))
                .restored(it.restored().objects())
                .restoredHash(it.restored().idsHash())
                .dropped(it.restored().dropped())
                .activeWire(it.active().wire())
                .activeLayout(it.active().layout())
                .memory(it.memory())
                .tier(it.tier());
        NodeInfoEncoder.SegmentsEncoder segments =
                info.segmentsCount(it.segments().size());
        for (Segment segment : it.segments()) {
            segments.next()
                    .segment(segment.segment())
                    .medium(segment.medium())
                    .capacityBytes(segment.capacityBytes())
                    .slots(segment.slots());
        }
        return info.tcp(it.tcp()).shm(it.shm()).zone(it.zone()).limit();
    }

    private int records(RecordKind kind, long sequence, List<DirectoryRecord> lines) {
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

    private int stats(NodeStats it) {
        return new NodeStatsEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .sequence(it.sequence())
                .usedBytes(it.usedBytes())
                .largestFreeBytes(it.largestFreeBytes())
                .slotsUsed(it.slotsUsed())
                .objects(it.objects())
                .draining(it.drainingBytes())
                .idsHash(it.idsHash())
                .damaged(it.damaged())
                .scrubRounds(it.scrubRounds())
                .activeWire(it.active().wire())
                .activeLayout(it.active().layout())
                .ssdUsedBytes(it.ssd().usedBytes())
                .ssdObjects(it.ssd().objects())
                .ssdProblem(it.ssd().problem())
                .limit();
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

    private int leaderGone(LeaderGone it) {
        LeaderGoneEncoder gone = new LeaderGoneEncoder().wrapAndApplyHeader(buffer, 0, header);
        authority(gone.authority(), it.authority());
        return gone.departure(it.departure())
                .silentMs(it.silentMs())
                .beat(it.beat())
                .address(it.address())
                .limit();
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

    private int copy(CopyRequest it) {
        CopyRequestEncoder copy =
                new CopyRequestEncoder().wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        CopyRequestEncoder.TargetsEncoder targets =
                copy.targetsCount(it.targets().size());
        it.targets().forEach(target -> targets.next().nodeId(target));
        return copy.putKey(it.key().bytes(), 0, it.key().length())
                .source(it.source())
                .limit();
    }

    private int hint(HintRequest it) {
        HintRequestEncoder hint = new HintRequestEncoder()
                .wrapAndApplyHeader(buffer, 0, header)
                .requestId(it.requestId())
                .hint(it.hint())
                .forMs(it.forMs())
                .ofGroup(flag(it.ofGroup()));
        HintRequestEncoder.KeysEncoder keys = hint.keysCount(it.keys().size());
        it.keys().forEach(key -> keys.next().putKey(key.bytes(), 0, key.length()));
        return hint.limit();
    }

    private static void authority(AuthorityEncoder encoder, Authority authority) {
        encoder.epoch(authority.epoch()).nonce(authority.nonce());
    }

    private static void id(ObjectIdEncoder encoder, ObjectId id) {
        encoder.epoch(id.epoch()).counter(id.counter());
    }

    private static Flag flag(boolean on) {
        return on ? Flag.YES : Flag.NO;
    }
}
