// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.NodeMessage;
import dev.kvpool.dataplane.wire.message.NodeMessage.Changes;
import dev.kvpool.dataplane.wire.message.NodeMessage.CommandAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.FenceAck;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeInfo;
import dev.kvpool.dataplane.wire.message.NodeMessage.NodeStats;
import dev.kvpool.dataplane.wire.message.NodeMessage.Restored;
import dev.kvpool.dataplane.wire.message.NodeMessage.Segment;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotBegin;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotEnd;
import dev.kvpool.dataplane.wire.message.NodeMessage.SnapshotRecords;
import dev.kvpool.dataplane.wire.message.NodeMessage.Ssd;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.AuthorityDecoder;
import dev.kvpool.wire.CommandAckDecoder;
import dev.kvpool.wire.Departure;
import dev.kvpool.wire.DirectoryRecordsDecoder;
import dev.kvpool.wire.ExtentRefDecoder;
import dev.kvpool.wire.FenceAckDecoder;
import dev.kvpool.wire.Flag;
import dev.kvpool.wire.LeaderGoneDecoder;
import dev.kvpool.wire.MessageHeaderDecoder;
import dev.kvpool.wire.NodeInfoDecoder;
import dev.kvpool.wire.NodeStatsDecoder;
import dev.kvpool.wire.ObjectIdDecoder;
import dev.kvpool.wire.PinsDecoder;
import dev.kvpool.wire.RecordState;
import dev.kvpool.wire.SnapshotBeginDecoder;
import dev.kvpool.wire.SnapshotEndDecoder;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;

/** Reads {@link NodeMessage}s. */
final class NodeMessageDecoder {
    private final NodeInfoDecoder info = new NodeInfoDecoder();
    private final SnapshotBeginDecoder snapshotBegin = new SnapshotBeginDecoder();
    private final DirectoryRecordsDecoder records = new DirectoryRecordsDecoder();
    private final SnapshotEndDecoder snapshotEnd = new SnapshotEndDecoder();
    private final NodeStatsDecoder stats = new NodeStatsDecoder();
    private final FenceAckDecoder fenceAck = new FenceAckDecoder();
    private final CommandAckDecoder commandAck = new CommandAckDecoder();
    private final LeaderGoneDecoder leaderGone = new LeaderGoneDecoder();
    private final VarData data = new VarData();

    NodeMessage info(DirectBuffer body, MessageHeaderDecoder header) {
        info.wrapAndApplyHeader(body, 0, header);
        Authority seen = authority(info.seen());
        ObjectId purge = objectId(info.purgeId());
        ObjectId highest = objectId(info.highestObject());
        Restored restored = new Restored(info.restored(), info.restoredHash(), info.dropped());
        ActiveVersions active = new ActiveVersions(info.activeWire(), info.activeLayout());
        List<Segment> segments = new ArrayList<>();
        NodeInfoDecoder.SegmentsDecoder lines = info.segments();
        GroupLines.check(lines.actingBlockLength(), NodeInfoDecoder.SegmentsDecoder.sbeBlockLength());
        for (NodeInfoDecoder.SegmentsDecoder segment : lines) {
            segments.add(new Segment(segment.segment(), segment.medium(), segment.capacityBytes(), segment.slots()));
        }
        String tcp = data.text(info::wrapTcp);
        String shm = data.text(info::wrapShm);
        String zone = data.text(info::wrapZone);
        return new NodeInfo(
                seen,
                purge,
                info.objectLeaseMaxMs(),
                highest,
                info.isTransient() == Flag.YES,
                restored,
                info.memory(),
                info.tier(),
                active,
                List.copyOf(segments),
                tcp,
                shm,
                zone);
    }

    NodeMessage snapshotBegin(DirectBuffer body, MessageHeaderDecoder header) {
        return new SnapshotBegin(
                snapshotBegin.wrapAndApplyHeader(body, 0, header).sequence());
    }

    NodeMessage records(DirectBuffer body, MessageHeaderDecoder header) {
        records.wrapAndApplyHeader(body, 0, header);
        long sequence = records.sequence();
        List<DirectoryRecord> lines = new ArrayList<>();
        DirectoryRecordsDecoder.RecordsDecoder group = records.records();
        GroupLines.check(group.actingBlockLength(), DirectoryRecordsDecoder.RecordsDecoder.sbeBlockLength());
        for (DirectoryRecordsDecoder.RecordsDecoder line : group) {
            if (line.state() == RecordState.NULL_VAL) {
                throw new IllegalArgumentException("record without a state");
            }
            lines.add(new DirectoryRecord(
                    line.state(),
                    extent(line.extent()),
                    objectId(line.objectId()),
                    line.offset(),
                    line.extentBytes(),
                    line.payloadLength(),
                    (int) line.payloadCrc(),
                    retention(line.pins(), line.softPinMs(), line.group()),
                    data.key(line::wrapKey)));
        }
        return switch (records.kind()) {
            case SNAPSHOT -> new SnapshotRecords(lines);
            case DELTA -> new Changes(sequence, lines);
            case NULL_VAL -> throw new IllegalArgumentException("records without a kind");
        };
    }

    NodeMessage snapshotEnd(DirectBuffer body, MessageHeaderDecoder header) {
        snapshotEnd.wrapAndApplyHeader(body, 0, header);
        return new SnapshotEnd(snapshotEnd.count(), snapshotEnd.sequence());
    }

    NodeMessage stats(DirectBuffer body, MessageHeaderDecoder header) {
        stats.wrapAndApplyHeader(body, 0, header);
        return new NodeStats(
                stats.sequence(),
                stats.usedBytes(),
                stats.largestFreeBytes(),
                stats.slotsUsed(),
                stats.objects(),
                stats.draining(),
                stats.idsHash(),
                stats.damaged(),
                stats.scrubRounds(),
                new ActiveVersions(stats.activeWire(), stats.activeLayout()),
                new Ssd(stats.ssdUsedBytes(), stats.ssdObjects(), data.text(stats::wrapSsdProblem)));
    }

    NodeMessage fenceAck(DirectBuffer body, MessageHeaderDecoder header) {
        fenceAck.wrapAndApplyHeader(body, 0, header);
        return new FenceAck(
                fenceAck.requestId(),
                fenceAck.accepted() == Flag.YES,
                authority(fenceAck.seen()),
                fenceAck.incarnation(),
                fenceAck.sequence(),
                fenceAck.objectLeaseMaxMs(),
                objectId(fenceAck.purgeId()));
    }

    NodeMessage commandAck(DirectBuffer body, MessageHeaderDecoder header) {
        commandAck.wrapAndApplyHeader(body, 0, header);
        return new CommandAck(
                commandAck.requestId(),
                commandAck.accepted() == Flag.YES,
                authority(commandAck.seen()),
                Status.of(commandAck.status()));
    }

    NodeMessage leaderGone(DirectBuffer body, MessageHeaderDecoder header) {
        leaderGone.wrapAndApplyHeader(body, 0, header);
        if (leaderGone.departure() == Departure.NULL_VAL) {
            throw new IllegalArgumentException("departure without a cause");
        }
        return new LeaderGone(
                authority(leaderGone.authority()),
                leaderGone.departure(),
                leaderGone.silentMs(),
                leaderGone.beat(),
                data.text(leaderGone::wrapAddress));
    }

    private static Retention retention(PinsDecoder pins, long softPinMs, long group) {
        return Retention.of(pins.soft(), pins.hard(), softPinMs, group);
    }

    private static Authority authority(AuthorityDecoder authority) {
        return new Authority(authority.epoch(), authority.nonce());
    }

    private static ObjectId objectId(ObjectIdDecoder id) {
        return new ObjectId(id.epoch(), id.counter());
    }

    private static ExtentRef extent(ExtentRefDecoder extent) {
        return new ExtentRef(extent.segment(), extent.slot(), extent.generation());
    }
}
