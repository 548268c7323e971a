// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire;

import dev.kvpool.dataplane.wire.codec.MessageEncoder;
import dev.kvpool.dataplane.wire.message.Message;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.MessageToByteEncoder;
import java.util.zip.CRC32C;
import org.agrona.ExpandableArrayBuffer;

/** Writes messages as frames. One serves all connections of an event loop. */
@ChannelHandler.Sharable
public final class FrameEncoder extends MessageToByteEncoder<Message> {
    private final MessageEncoder messages = new MessageEncoder();
    private final ExpandableArrayBuffer body = new ExpandableArrayBuffer(64 << 10);

    @Override
    protected ByteBuf allocateBuffer(ChannelHandlerContext context, Message message, boolean preferDirect) {
        return context.alloc().buffer(256);
    }

    @Override
    protected void encode(ChannelHandlerContext context, Message message, ByteBuf out) {
        int length = messages.encode(message, body);
        if (length > Frame.BODY_BYTES_MAX) {
            throw new IllegalStateException(message.getClass().getSimpleName() + " of " + length
                    + " bytes is longer than a frame of " + Frame.BODY_BYTES_MAX);
        }
        CRC32C crc = new CRC32C();
        crc.update(body.byteArray(), 0, length);
        out.ensureWritable(Frame.HEADER_BYTES + length);
        out.writeIntLE(length);
        out.writeIntLE((int) crc.getValue());
        out.writeBytes(body.byteArray(), 0, length);
    }
}
