// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/** Ends a connection that sends too much before it is authenticated; taken out of the pipeline when it is. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it
final class HandshakeBytes extends ChannelInboundHandlerAdapter {
    static final int MAX = 16 << 10;

    private final Runnable tooMany;
    private long received;

    HandshakeBytes(Runnable tooMany) {
        this.tooMany = tooMany;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        received += bytes.readableBytes();
        if (received > MAX) {
            bytes.release();
            tooMany.run();
            context.close();
            return;
        }
        context.fireChannelRead(bytes);
    }
}
