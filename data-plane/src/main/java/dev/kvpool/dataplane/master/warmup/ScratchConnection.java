// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.warmup;

import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.wire.Frame;
import dev.kvpool.dataplane.wire.FrameDecoder;
import dev.kvpool.dataplane.wire.FrameEncoder;
import dev.kvpool.dataplane.wire.codec.PeerEncoder;
import dev.kvpool.dataplane.wire.message.Message;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.zip.CRC32C;

/** A connection to a core whose bytes go nowhere: what a peer sends comes as bytes, what it gets is heard before it is bytes. */
@SuppressWarnings("FutureReturnValueIgnored") // the promise is the loop's, which listens to it
final class ScratchConnection implements AutoCloseable {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final PeerEncoder encoder = new PeerEncoder();
    private final Deque<Message> heard = new ArrayDeque<>();

    EventLoop eventLoop() {
        return channel.eventLoop();
    }

    /** As {@code MasterServer} and {@code SessionHandler} do for a peer that was welcomed; its number. */
    long open(CoreLoop loop) {
        Channel opened = channel;
        long session = loop.open(opened, false, "warm-up", "warm-up");
        FrameDecoder frames = new FrameDecoder();
        frames.welcome();
        opened.pipeline().addLast(frames, new FrameEncoder(), new Inputs(loop, session), new Ear());
        return session;
    }

    /** The bytes of a message arrive. */
    void send(Message message) {
        byte[] body = encoder.encode(message);
        CRC32C crc = new CRC32C();
        crc.update(body);
        ByteBuf frame = channel.alloc().ioBuffer(Frame.HEADER_BYTES + body.length);
        channel.writeInbound(
                frame.writeIntLE(body.length).writeIntLE((int) crc.getValue()).writeBytes(body));
    }

    /** Does what the event loop was asked to do, and lets the bytes go that were to be sent. */
    void flush() {
        channel.runPendingTasks();
        channel.releaseOutbound();
    }

    /** The next message to this peer, or null. */
    Message heard() {
        return heard.poll();
    }

    @Override
    public void close() {
        channel.finishAndReleaseAll();
    }

    private static final class Inputs extends SimpleChannelInboundHandler<Message> {
        private final CoreLoop loop;
        private final long session;

        Inputs(CoreLoop loop, long session) {
            super(Message.class);
            this.loop = loop;
            this.session = session;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, Message message) {
            loop.receive(session, message);
        }
    }

    /** Stands where messages are not encoded yet. */
    private final class Ear extends ChannelOutboundHandlerAdapter {
        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            heard.add((Message) message);
            context.write(message, promise);
        }
    }
}
