// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.codec;

import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeCommand;
import dev.kvpool.dataplane.wire.message.NodeCommand.Extent;
import dev.kvpool.dataplane.wire.message.NodeCommand.Fence;
import dev.kvpool.dataplane.wire.message.NodeCommand.Free;
import dev.kvpool.wire.AuthorityEncoder;
import dev.kvpool.wire.FenceEncoder;
import dev.kvpool.wire.FreeEncoder;
import dev.kvpool.wire.MessageHeaderEncoder;
import org.agrona.MutableDirectBuffer;

/** Writes {@link NodeCommand}s. */
final class NodeCommandEncoder {
    private final MessageHeaderEncoder header = new MessageHeaderEncoder();
    private final FenceEncoder fence = new FenceEncoder();
    private final FreeEncoder free = new FreeEncoder();

    int encode(NodeCommand command, MutableDirectBuffer buffer) {
        return switch (command) {
            case Fence it -> fence(it, buffer);
            case Free it -> free(it, buffer);
        };
    }

    private int fence(Fence it, MutableDirectBuffer buffer) {
        fence.wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        authority(fence.authority(), it.authority());
        return fence.objectLeaseMs(it.objectLeaseMs()).limit();
    }

    private int free(Free it, MutableDirectBuffer buffer) {
        free.wrapAndApplyHeader(buffer, 0, header).requestId(it.requestId());
        authority(free.authority(), it.authority());
        FreeEncoder.ExtentsEncoder extents = free.extentsCount(it.extents().size());
        for (Extent extent : it.extents()) {
            extents.next();
            extents.extent()
                    .segment(extent.extent().segment())
                    .slot(extent.extent().slot())
                    .generation(extent.extent().generation());
            extents.objectId()
                    .epoch(extent.objectId().epoch())
                    .counter(extent.objectId().counter());
        }
        return free.limit();
    }

    private static void authority(AuthorityEncoder encoder, Authority authority) {
        encoder.epoch(authority.epoch()).nonce(authority.nonce());
    }
}
