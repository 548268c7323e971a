// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeLeaves;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.wire.CopyRequestEncoder;
import dev.kvpool.wire.HintRequestEncoder;
import dev.kvpool.wire.LeaderGoneEncoder;
import dev.kvpool.wire.NodeInfoEncoder;
import dev.kvpool.wire.NodeLeavesEncoder;
import dev.kvpool.wire.NodeStatsEncoder;
import dev.kvpool.wire.RecordKind;
import dev.kvpool.wire.RemoveAllRequestEncoder;
import dev.kvpool.wire.SnapshotBeginEncoder;
import dev.kvpool.wire.SnapshotEndEncoder;
import dev.kvpool.wire.TaskQueryEncoder;

/** Writes all that nodes and clients send. */
public final class FullPeerEncoder extends PeerEncoder {
    @Override
    int write(Message message) {
        return switch (message) {
            case NodeInfo it -> info(it);
            case SnapshotBegin it ->
                new SnapshotBeginEncoder()
                        .wrapAndApplyHeader(buffer, 0, header)
                        .sequence(it.sequence())
                        .limit();
            case SnapshotRecords it -> records(RecordKind.SNAPSHOT, 0, it.records());
            case SnapshotEnd it ->
                new SnapshotEndEncoder()
                        .wrapAndApplyHeader(buffer, 0, header)
                        .count(it.count())
                        .sequence(it.sequence())
                        .limit();
            case NodeStats it -> stats(it);
            case LeaderGone it -> leaderGone(it);
            case NodeLeaves it ->
                new NodeLeavesEncoder().wrapAndApplyHeader(buffer, 0, header).limit();
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
            default -> super.write(message);
        };
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

    private int leaderGone(LeaderGone it) {
        LeaderGoneEncoder gone = new LeaderGoneEncoder().wrapAndApplyHeader(buffer, 0, header);
        authority(gone.authority(), it.authority());
        return gone.departure(it.departure())
                .silentMs(it.silentMs())
                .beat(it.beat())
                .address(it.address())
                .limit();
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
}
