// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.wire.FrameDecoder;
import dev.kvpool.dataplane.wire.FrameEncoder;
import dev.kvpool.dataplane.wire.Handshake;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.LongSupplier;

/** Listens for nodes and clients. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it, and the pipeline hears of that
final class MasterServer implements AutoCloseable {
    /** What may wait to be sent on one connection. */
    static final int OUTPUT_BYTES_MAX = 64 << 20;

    private static final int CONNECTIONS_MAX = 32_768;

    private final Channel channel;

    private MasterServer(Channel channel) {
        this.channel = channel;
    }

    static MasterServer listen(
            EventLoop eventLoop,
            String host,
            int port,
            CoreLoop core,
            Handshake.Self self,
            ConnectionCounts counts,
            ConnectedPeers peers,
            LongSupplier clockMs)
            throws IOException, InterruptedException {
        FrameEncoder encoder = new FrameEncoder();
        TroubleLog troubles = new TroubleLog(clockMs);
        int[] open = {0};
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(eventLoop)
                .channel(channelType())
                .option(ChannelOption.SO_BACKLOG, 1024)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(OUTPUT_BYTES_MAX / 2, OUTPUT_BYTES_MAX))
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        open[0]++;
                        connection.closeFuture().addListener(closed -> open[0]--);
                        if (open[0] > CONNECTIONS_MAX) {
                            connection.close();
                            return;
                        }
                        FrameDecoder frames = new FrameDecoder();
                        SessionHandler session = new SessionHandler(core, self, frames, counts, peers, troubles);
                        connection.pipeline().addLast(frames, encoder, session);
                    }
                });
        var bound = bootstrap.bind(new InetSocketAddress(host, port)).await();
        if (!bound.isSuccess()) {
            throw new IOException(
                    "cannot listen on " + host + " port " + port + ": "
                            + bound.cause().getMessage() + "; is another master running there?",
                    bound.cause());
        }
        return new MasterServer(bound.channel());
    }

    int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    @Override
    public void close() {
        channel.close().awaitUninterruptibly();
    }

    private static Class<? extends ServerChannel> channelType() {
        return Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }
}
