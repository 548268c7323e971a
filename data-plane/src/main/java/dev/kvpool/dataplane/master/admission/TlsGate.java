// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import dev.kvpool.dataplane.secure.RemoteNetwork;
import dev.kvpool.identity.peer.Refusal;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The first handler of a connection: three bytes say whether the peer speaks TLS. A record of a TLS handshake begins 16 03 01 to 16 03 03; as the
 * length of a frame that would be more than any Hello has. A peer has 3 s to say who it is.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it
final class TlsGate extends ByteToMessageDecoder {
    private static final long AUTHENTICATION_MS_MAX = 3_000;
    private static final int DECIDING_BYTES = 3;
    private static final int HANDSHAKE = 0x16;
    private static final int MAJOR = 3;
    private static final int MINOR_MIN = 1;
    private static final int MINOR_MAX = 3;

    private final DataPortSecurity security;
    private final RemoteNetwork from;
    private final DataPortSecurity.Sessions sessions;
    private Future<?> expiry;
    private boolean ended;
    private boolean secured;

    TlsGate(DataPortSecurity security, RemoteNetwork from, DataPortSecurity.Sessions sessions) {
        this.security = security;
        this.from = from;
        this.sessions = sessions;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        Channel connection = context.channel();
        connection.closeFuture().addListener(_ -> end());
        expiry = context.executor().schedule(() -> expire(connection), AUTHENTICATION_MS_MAX, TimeUnit.MILLISECONDS);
    }

    private void expire(Channel connection) {
        if (!ended) {
            tell(connection, Refusal.TIMEOUT, "it did not say who it is within " + AUTHENTICATION_MS_MAX + " ms");
            // Past the handler of TLS, which would wait for its turn to say goodbye.
            connection.pipeline().firstContext().close();
        }
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
        if (in.readableBytes() < DECIDING_BYTES) {
            return;
        }
        Channel connection = context.channel();
        if (isTls(in)) {
            secure(connection);
        } else if (security.takesPlain()) {
            end();
            sessions.open(connection, PeerAdmission.PLAIN_BESIDE_TENANTS);
        } else {
            security.count(Refusal.PLAINTEXT);
            end();
            in.skipBytes(in.readableBytes());
            sessions.refusePlain(connection);
        }
        connection.pipeline().remove(this); // hands on what it holds
    }

    private static boolean isTls(ByteBuf in) {
        int at = in.readerIndex();
        int minor = in.getUnsignedByte(at + 2);
        return in.getUnsignedByte(at) == HANDSHAKE
                && in.getUnsignedByte(at + 1) == MAJOR
                && minor >= MINOR_MIN
                && minor <= MINOR_MAX;
    }

    private void secure(Channel connection) {
        secured = true;
        ChannelPipeline pipeline = connection.pipeline();
        HandshakeBytes bytes = new HandshakeBytes(() -> tell(
                connection,
                Refusal.LIMIT,
                "it sent more than " + HandshakeBytes.MAX + " bytes before it said who it is"));
        security.secure(
                connection,
                from,
                (handler, admission) -> {
                    pipeline.addLast(bytes, handler);
                    sessions.open(connection, admission);
                },
                handler -> done(connection, bytes, handler));
    }

    private void done(Channel connection, HandshakeBytes bytes, SslHandler handler) {
        if (ended) {
            return; // refused before, and counted
        }
        Throwable failure = handler.handshakeFuture().cause();
        if (failure != null) {
            refuse(connection, Refusal.of(failure), "the handshake failed: " + failure.getMessage());
            return;
        }
        security.succeeded(from);
        end();
        connection.pipeline().remove(bytes);
    }

    private void refuse(Channel connection, Refusal refusal, String why) {
        tell(connection, refusal, why);
        connection.close();
    }

    private void tell(Channel connection, Refusal refusal, String why) {
        if (secured) {
            security.failed(refusal);
        } else {
            security.count(refusal);
        }
        end();
        sessions.refused(connection, why);
    }

    /** From now on it is no open handshake. */
    private void end() {
        if (!ended) {
            ended = true;
            expiry.cancel(false); // which would keep the connection in memory until then
            security.ended(from);
        }
    }
}
