// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.NodeCommand;
import dev.kvpool.dataplane.wire.message.NodeCommand.Activate;
import dev.kvpool.dataplane.wire.message.NodeCommand.Copy;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.dataplane.wire.message.NodeCommand.KeepTombstones;
import dev.kvpool.dataplane.wire.message.NodeCommand.LeaderLeaves;
import dev.kvpool.dataplane.wire.message.NodeCommand.Purge;
import dev.kvpool.dataplane.wire.message.NodeCommand.Tombstone;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.wire.ActivateEncoder;
import dev.kvpool.wire.AuthorityEncoder;
import dev.kvpool.wire.CopyEncoder;
import dev.kvpool.wire.ExtentRefEncoder;
import dev.kvpool.wire.FenceEncoder;
import dev.kvpool.wire.Flag;
import dev.kvpool.wire.FreeEncoder;
import dev.kvpool.wire.KeepTombstonesEncoder;
import dev.kvpool.wire.LeaderLeavesEncoder;
import dev.kvpool.wire.MessageHeaderEncoder;
import dev.kvpool.wire.ObjectIdEncoder;
import dev.kvpool.wire.PurgeEncoder;
import org.agrona.MutableDirectBuffer;

/** Writes {@link NodeCommand}s. */
final class NodeCommandEncoder {
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final FenceEncoder fence = new FenceEncoder();
    private final FreeEncoder free = new FreeEncoder();
    private final PurgeEncoder purge = new PurgeEncoder();
    private final KeepTombstonesEncoder keepTombstones = new KeepTombstonesEncoder();
    private final CopyEncoder copy = new CopyEncoder();
    private final ActivateEncoder activate = new ActivateEncoder();
    private final LeaderLeavesEncoder leaderLeaves = new LeaderLeavesEncoder();

    int encode(NodeCommand command, MutableDirectBuffer buffer) {
        return switch (command) {
            case Fence it -> fence(it, buffer);
            case Free it -> free(it, buffer);
            case Purge it -> purge(it, buffer);
            case KeepTombstones it -> writeTombstone(it, buffer);
            case Copy it -> copy(it, buffer);
            case Activate it -> activate(it, buffer);
            case LeaderLeaves it -> leaderLeaves(it, buffer);
        };
    }

    private int fence(Fence it, MutableDirectBuffer buffer) {
        fence.wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        authority(fence.authority(), it.authority());
        objectId(fence.purgeId(), it.purgeId());
        fence.buffer().putBytes(fence.grantSecret().offset(), it.grantSecret().bytes());
        return fence.objectLeaseMs(it.objectLeaseMs()).limit();
    }

    private int free(Free it, MutableDirectBuffer buffer) {
        free.wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        authority(free.authority(), it.authority());
        FreeEncoder.ExtentsEncoder extents = free.extentsCount(it.extents().size());
        for (Extent extent : it.extents()) {
            extents.next();
            extent(extents.extent(), extent.extent());
            objectId(extents.objectId(), extent.objectId());
        }
        return free.limit();
    }

    private int purge(Purge it, MutableDirectBuffer buffer) {
        purge.wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        authority(purge.authority(), it.authority());
        objectId(purge.purgeId(), it.purgeId());
        return purge.limit();
    }

    private int writeTombstone(KeepTombstones it, MutableDirectBuffer buffer) {
        keepTombstones.wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        authority(keepTombstones.authority(), it.authority());
        KeepTombstonesEncoder.TombstonesEncoder tombstones =
                keepTombstones.tombstonesCount(it.tombstones().size());
        for (Tombstone tombstone : it.tombstones()) {
            objectId(tombstones.next().objectId(), tombstone.objectId());
            tombstones.putKey(tombstone.key().bytes(), 0, tombstone.key().length());
        }
        return keepTombstones.limit();
    }

    private int copy(Copy it, MutableDirectBuffer buffer) {
        copy.wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        authority(copy.authority(), it.authority());
        objectId(copy.objectId(), it.objectId());
        Retention retention = it.retention();
        copy.pins().clear().soft(retention.soft()).hard(retention.hard());
        extent(copy.sourceExtent(), it.sourceExtent());
        return copy.payloadLength(it.payloadLength())
                .payloadCrc(Integer.toUnsignedLong(it.payloadCrc()))
                .softPinMs(retention.softMs())
                .group(retention.group())
                .sourceIncarnation(it.sourceIncarnation())
                .medium(it.medium())
                .sourceIsTransient(it.sourceIsTransient() ? Flag.YES : Flag.NO)
                .putKey(it.key().bytes(), 0, it.key().length())
                .sourceTcp(it.sourceTcp())
                .sourceNode(it.sourceNode())
                .limit();
    }

    private int activate(Activate it, MutableDirectBuffer buffer) {
        activate.wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        authority(activate.authority(), it.authority());
        return activate.wire(it.versions().wire())
                .layout(it.versions().layout())
                .limit();
    }

    private int leaderLeaves(LeaderLeaves it, MutableDirectBuffer buffer) {
        leaderLeaves.wrapAndApplyHeader(buffer, 0, header);
        authority(leaderLeaves.authority(), it.authority());
        return leaderLeaves.limit();
    }

    private static void extent(ExtentRefEncoder encoder, ExtentRef extent) {
        encoder.segment(extent.segment()).slot(extent.slot()).generation(extent.generation());
    }

    private static void objectId(ObjectIdEncoder encoder, ObjectId id) {
        encoder.epoch(id.epoch()).counter(id.counter());
    }

    private static void authority(AuthorityEncoder encoder, Authority authority) {
        encoder.epoch(authority.epoch()).nonce(authority.nonce());
    }
}
