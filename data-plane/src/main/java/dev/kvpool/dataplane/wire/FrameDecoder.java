// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire;

import dev.kvpool.dataplane.wire.codec.MalformedMessageException;
import dev.kvpool.dataplane.wire.codec.MessageDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Cuts the byte stream into frames and reads the message in each. After the first malformed frame nothing on the connection
 * can be trusted any more: the rest is dropped.
 */
public final class FrameDecoder extends ByteToMessageDecoder {
    private static final int KEPT_BYTES_MAX = 64 << 10;

    private final MessageDecoder messages = new MessageDecoder();
    private final UnsafeBuffer view = new UnsafeBuffer(0, 0);
    private byte[] body = new byte[1024];
    private int bodyBytesMax = Frame.HELLO_BYTES_MAX - Frame.HEADER_BYTES;
    private boolean broken;

    /** The peer is known now and may send messages of every size. */
    public void welcome() {
        bodyBytesMax = Frame.BODY_BYTES_MAX;
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
            throws MalformedMessageException {
        if (broken) {
            in.skipBytes(in.readableBytes());
            return;
        }
        if (in.readableBytes() < Frame.HEADER_BYTES) {
            return;
        }
        long length = in.getUnsignedIntLE(in.readerIndex());
        if (length > bodyBytesMax) {
            throw malformed("a frame of " + length + " bytes is longer than " + bodyBytesMax);
        }
        if (in.readableBytes() < Frame.HEADER_BYTES + length) {
            return;
        }
        in.skipBytes(Integer.BYTES);
        int crc = in.readIntLE();
        out.add(message(in, (int) length, crc));
    }

    private Object message(ByteBuf in, int length, int expectedCrc) throws MalformedMessageException {
        if (body.length < length) {
            body = new byte[length];
        }
        in.readBytes(body, 0, length);
        CRC32C crc = new CRC32C();
        crc.update(body, 0, length);
        if ((int) crc.getValue() != expectedCrc) {
            throw malformed("the checksum of a frame of " + length + " bytes does not fit");
        }
        try {
            view.wrap(body);
            return messages.decode(view, 0, length);
        } catch (MalformedMessageException e) {
            broken = true;
            throw e;
        } finally {
            // One large message must not keep a megabyte per connection for ever.
            if (body.length > KEPT_BYTES_MAX) {
                body = new byte[1024];
            }
        }
    }

    private MalformedMessageException malformed(String message) {
        broken = true;
        return new MalformedMessageException(message);
    }
}
