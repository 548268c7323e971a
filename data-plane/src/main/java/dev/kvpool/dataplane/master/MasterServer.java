// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.audit.AuditLog;
import dev.kvpool.dataplane.master.admission.DataPortSecurity;
import dev.kvpool.dataplane.master.admission.PeerAdmission;
import dev.kvpool.dataplane.master.loop.ConnectionCounts;
import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.master.loop.UnsentMessages;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.secure.TlsMode;
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
import java.util.Optional;
import java.util.function.LongSupplier;

/** Listens for nodes and clients. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it, and the pipeline hears of that
final class MasterServer implements AutoCloseable {
    private static final int CONNECTIONS_MAX = 32_768;

    private final Channel channel;
    private final Optional<DataPortSecurity> tls;

    private MasterServer(Channel channel, Optional<DataPortSecurity> tls) {
        this.channel = channel;
        this.tls = tls;
    }

    static MasterServer listen(
            EventLoop eventLoop,
            String host,
            int port,
            CoreLoop core,
            Handshake.Self self,
            ConnectionCounts counts,
            ConnectedPeers peers,
            PoolSecurity security,
            AuditLog audit,
            LongSupplier clockMs)
            throws IOException, InterruptedException {
        FrameEncoder encoder = new FrameEncoder();
        TroubleLog troubles = new TroubleLog(clockMs);
        SessionPipeline sessions = new SessionPipeline(core, self, encoder, counts, peers, troubles, audit);
        Optional<DataPortSecurity> tls = security.mode() == TlsMode.OFF
                ? Optional.empty()
                : Optional.of(new DataPortSecurity(
                        security, clockMs, (what, cause) -> eventLoop.execute(() -> core.defect(what, cause))));
        int[] open = {0};
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(eventLoop)
                .channel(channelType())
                .option(ChannelOption.SO_BACKLOG, 1024)
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK,
                        new WriteBufferWaterMark(UnsentMessages.READ_BYTES_MAX / 2, UnsentMessages.READ_BYTES_MAX))
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel connection) {
                        open[0]++;
                        connection.closeFuture().addListener(closed -> open[0]--);
                        if (open[0] > CONNECTIONS_MAX) {
                            connection.close();
                            return;
                        }
                        if (tls.isPresent()) {
                            tls.get().accept(connection, sessions);
                        } else {
                            sessions.add(connection, PeerAdmission.PLAIN);
                        }
                    }
                });
        var bound = bootstrap.bind(new InetSocketAddress(host, port)).await();
        if (!bound.isSuccess()) {
            tls.ifPresent(DataPortSecurity::close);
            throw new IOException(
                    "cannot listen on " + host + " port " + port + ": "
                            + bound.cause().getMessage() + "; is another master running there?",
                    bound.cause());
        }
        return new MasterServer(bound.channel(), tls);
    }

    int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    @Override
    public void close() {
        channel.close().awaitUninterruptibly();
        tls.ifPresent(DataPortSecurity::close);
    }

    private static Class<? extends ServerChannel> channelType() {
        return Epoll.isAvailable() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
    }
}
