// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.warmup;

import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.identity.peer.PoolTls;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * One connection of TLS between two ends in this thread, which both show the master's own certificate: a whole handshake, and messages to and
 * fro. The first handshakes of a JVM take ten times as long as later ones, and a leader that starts has those of all clients at once.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a channel in memory is closed at once
final class ScratchHandshake implements AutoCloseable {
    static final int MESSAGES = 8;
    private static final byte[] MESSAGE = new byte[1_000];

    private final SslHandler dialling;
    private final SslHandler listening;
    private final EmbeddedChannel client;
    private final EmbeddedChannel server;

    ScratchHandshake(TlsContext tls) {
        listening = handler(tls, false);
        dialling = handler(tls, true);
        server = new EmbeddedChannel(listening, new Refusals());
        client = new EmbeddedChannel(dialling, new Refusals());
    }

    /** As the data port has it, but for the threads that handshakes have there. */
    private static SslHandler handler(TlsContext tls, boolean dials) {
        SSLEngine engine = tls.context().createSSLEngine();
        engine.setUseClientMode(dials);
        SSLParameters parameters = PoolTls.parameters();
        parameters.setNeedClientAuth(!dials);
        engine.setSSLParameters(parameters);
        SslHandler handler = new SslHandler(engine);
        handler.setHandshakeTimeoutMillis(0);
        return handler;
    }

    /**
     * Does all of it.
     *
     * @return how many messages arrived; 0 when the ends did not take each other's certificate, as one that is for listeners only
     */
    int run() {
        boolean moved = true;
        while (moved) {
            boolean there = move(client, server);
            boolean back = move(server, client);
            moved = there || back;
        }
        if (!dialling.handshakeFuture().isSuccess()
                || !listening.handshakeFuture().isSuccess()) {
            return 0;
        }
        int arrived = 0;
        for (int i = 0; i < MESSAGES; i++) {
            arrived += deliver(client, server) + deliver(server, client);
        }
        return arrived / 2;
    }

    private static int deliver(EmbeddedChannel from, EmbeddedChannel to) {
        from.writeOutbound(Unpooled.wrappedBuffer(MESSAGE));
        move(from, to);
        return to.releaseInbound() ? 1 : 0;
    }

    /** Whether there was anything. */
    private static boolean move(EmbeddedChannel from, EmbeddedChannel to) {
        boolean moved = false;
        for (Object bytes = from.readOutbound(); bytes != null; bytes = from.readOutbound()) {
            moved = true;
            if (to.isOpen()) {
                to.writeInbound(bytes);
            } else {
                ReferenceCountUtil.release(bytes);
            }
        }
        return moved;
    }

    /** That an end refuses the other is what {@link #run} answers. */
    private static final class Refusals extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    @Override
    public void close() {
        client.finishAndReleaseAll();
        server.finishAndReleaseAll();
    }
}
