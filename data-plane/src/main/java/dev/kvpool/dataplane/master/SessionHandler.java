// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.admin.ConnectedPeer;
import dev.kvpool.dataplane.audit.AuditLog;
import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.dataplane.master.admission.CertificateProofs;
import dev.kvpool.dataplane.master.admission.PeerAdmission;
import dev.kvpool.dataplane.master.admission.PeerLifetime;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.loop.ConnectionCounts;
import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.master.loop.UnsentMessages;
import dev.kvpool.dataplane.wire.FrameDecoder;
import dev.kvpool.dataplane.wire.Handshake;
import dev.kvpool.dataplane.wire.codec.MalformedMessageException;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.AboutCertificates;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DecoderException;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One connection of a node or client: the handshake first, then every message goes to the core. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it, and the pipeline hears of that
final class SessionHandler extends SimpleChannelInboundHandler<Message> {
    private static final Logger LOG = LoggerFactory.getLogger(SessionHandler.class);
    private static final long HELLO_MS_MAX = 5_000;
    private static final long NO_SESSION = -1;

    private final CoreLoop loop;
    private final Handshake.Self self;
    private final FrameDecoder frames;
    private final ConnectionCounts counts;
    private final ConnectedPeers peers;
    private final TroubleLog troubles;
    private final AuditLog audit;
    private final PeerAdmission admission;
    private long session = NO_SESSION;
    private Optional<Role> plain = Optional.empty();
    private Optional<CertificateProofs> proofs = Optional.empty();
    private boolean ending;

    SessionHandler(
            CoreLoop loop,
            Handshake.Self self,
            FrameDecoder frames,
            ConnectionCounts counts,
            ConnectedPeers peers,
            TroubleLog troubles,
            AuditLog audit,
            PeerAdmission admission) {
        super(Message.class);
        this.loop = loop;
        this.self = self;
        this.frames = frames;
        this.counts = counts;
        this.peers = peers;
        this.troubles = troubles;
        this.audit = audit;
        this.admission = admission;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        Future<?> expiry =
                context.executor().schedule(() -> endWithoutHello(context), HELLO_MS_MAX, TimeUnit.MILLISECONDS);
        context.channel().closeFuture().addListener(_ -> expiry.cancel(false));
        context.fireChannelActive();
    }

    private void endWithoutHello(ChannelHandlerContext context) {
        if (session == NO_SESSION && !ending && context.channel().isActive()) {
            refuse(context, Handshake.noHello(self, "none came within " + HELLO_MS_MAX + " ms"));
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, Message message) {
        if (session != NO_SESSION && message instanceof AboutCertificates certificates) {
            aboutCertificates(context, certificates);
        } else if (session != NO_SESSION) {
            if (admission.isPlain() || isAllowed(context, message)) {
                loop.receive(session, message);
            }
        } else if (!ending) {
            greet(context, message);
        }
    }

    private void aboutCertificates(ChannelHandlerContext context, AboutCertificates message) {
        if (ending) {
            return;
        }
        proofs.ifPresentOrElse(
                it -> it.receive(message),
                () -> malformed(context, "only storage nodes with TLS prove certificates on their connections"));
    }

    /** What a peer may not ask is answered here, what it may not say ends its connection. */
    private boolean isAllowed(ChannelHandlerContext context, Message message) {
        if (ending) {
            return false;
        }
        if (message instanceof ClientRequest request) {
            if (admission.mayAsk(request)) {
                return true;
            }
            troubles.log(
                    admission.name(),
                    () -> LOG.info(
                            "refused {} of {} at {}: its certificate does not allow it",
                            request.getClass().getSimpleName(),
                            admission.name(),
                            context.channel().remoteAddress()));
            audit(context, request, "");
            loop.apply(core -> core.refuse(session, request, Status.NOT_PERMITTED, loop.nowMs()));
            return false;
        }
        Optional<String> objection = admission.nodeObjection(message);
        if (objection.isPresent()) {
            ending = true;
            counts.countRefused(RefusalCode.ROLE);
            audit(context, message, objection.get());
            troubles.log(
                    admission.name(),
                    () -> LOG.info(
                            "closing the connection of {}: {}",
                            context.channel().remoteAddress(),
                            objection.get()));
            context.close();
        }
        return objection.isEmpty();
    }

    /**
     * Once a minute for each name and kind of message, or each address of those without a name: an engine that may only read, and goes on trying
     * to write, would else fill the log.
     */
    private void audit(ChannelHandlerContext context, Message message, String why) {
        if (context.channel().remoteAddress() instanceof InetSocketAddress address) {
            Caller caller = admission.caller(address.getAddress());
            String kind = message.getClass().getSimpleName();
            String who = caller.name()
                    .map(PeerName::path)
                    .orElseGet(() -> caller.address().getHostAddress());
            troubles.log("audit " + who + " " + kind, () -> audit.refusedOnDataPort(caller, kind, why));
        }
    }

    private void greet(ChannelHandlerContext context, Message message) {
        if (!(message instanceof Hello hello)) {
            refuse(context, Handshake.noHello(self, message.getClass().getSimpleName() + " came"));
            return;
        }
        loop.apply(core -> {
            Optional<Objection> stranger = admission.objection(hello, core::expects);
            if (stranger.isPresent()) {
                audit(context, hello, stranger.get().message());
                // Not noted for the node of that name: it is another that says so.
                refuse(context, stranger.get());
                return;
            }
            switch (Handshake.answer(hello, self, core.activeVersions())) {
                case Welcome welcome -> admit(context, hello, welcome);
                case Refused refused -> refuse(context, hello, refused);
            }
        });
    }

    private void admit(ChannelHandlerContext context, Hello hello, Welcome welcome) {
        String principal = admission.isPlain() ? host(context) : admission.name();
        String process = process(principal, hello);
        boolean asks = hello.role() == Role.CLIENT && (admission.isPlain() || !admission.isMember(hello));
        Optional<Objection> setApart = asks ? loop.objection(principal, process) : Optional.empty();
        if (setApart.isPresent()) {
            refuse(context, setApart.get());
            return;
        }
        long opened = loop.open(context.channel(), admission.isMember(hello), principal, process);
        loop.apply(core -> {
            boolean isNode = hello.role() == Role.NODE;
            Optional<Objection> objection = isNode
                    ? core.nodeConnected(opened, NodePeer.of(hello, admission.tenant()), loop.nowMs())
                    : core.clientConnected(opened, life(principal, hello), admission.clientTenant(), loop.nowMs());
            if (objection.isPresent()) {
                loop.forget(opened);
                refuse(context, objection.get());
                return;
            }
            if (!isNode && admission.isMasters(hello) && !hello.name().equals(self.name())) {
                core.lookedFor(loop.nowMs());
            }
            session = opened;
            peers.add(opened, new ConnectedPeer(hello.role(), hello.name(), hello.versions()));
            if (admission.isPlain()) {
                counts.plainOpened(hello.role());
                plain = Optional.of(hello.role());
            }
            frames.welcome();
            context.writeAndFlush(welcome);
            PeerLifetime.watch(
                    context.channel(), admission, isNode, InstantSource.system(), why -> endFor(context, why));
            if (isNode && !admission.isPlain()) {
                proofs = Optional.of(CertificateProofs.begin(
                        context.channel(),
                        admission,
                        InstantSource.system(),
                        loop::nowMs,
                        why -> warnOfCertificate(context, why),
                        why -> endFor(context, why)));
            }
        });
    }

    /** Many processes may have one certificate, or one host; a certificate's are told apart by what they call themselves. */
    private String process(String principal, Hello hello) {
        return admission.isPlain() ? life(principal, hello) : principal + "/" + hello.name();
    }

    /** The same for each connection of a process until it ends. */
    private static String life(String principal, Hello hello) {
        return principal + "/" + hello.name() + "/" + Long.toHexString(hello.incarnation());
    }

    private void warnOfCertificate(ChannelHandlerContext context, String why) {
        troubles.log(
                "certificate of " + admission.name(),
                () -> LOG.warn(
                        "{} at {}: {}", admission.name(), context.channel().remoteAddress(), why));
    }

    private void endFor(ChannelHandlerContext context, String why) {
        ending = true;
        troubles.log(
                admission.name(),
                () -> LOG.info(
                        "closing the connection of {} at {}: {}",
                        admission.name(),
                        context.channel().remoteAddress(),
                        why));
        context.close();
    }

    private void refuse(ChannelHandlerContext context, Objection why) {
        refuse(context, Handshake.refused(self, why.code(), why.message()));
    }

    private void refuse(ChannelHandlerContext context, Hello hello, Refused refused) {
        if (hello.role() == Role.NODE) {
            loop.apply(core -> core.nodeRefused(hello.name(), new Objection(refused.code(), refused.message())));
        }
        refuse(context, refused);
    }

    void refuse(ChannelHandlerContext context, Refused refused) {
        ending = true;
        counts.countRefused(refused.code());
        troubles.log(
                host(context) + " " + refused.code(),
                () -> LOG.info("refused {}: {}", context.channel().remoteAddress(), refused.message()));
        context.writeAndFlush(refused).addListener(ChannelFutureListener.CLOSE);
    }

    /** Enough of what waited is sent, see {@link UnsentMessages}. */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (context.channel().isWritable()) {
            context.channel().config().setAutoRead(true);
        }
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (session != NO_SESSION) {
            peers.remove(session);
            plain.ifPresent(counts::plainClosed);
            loop.closed(session, "the connection ended");
        }
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof Error || cause.getCause() instanceof Error) {
            loop.defect("an error while a peer was served", cause);
        }
        if (ending) {
            context.close();
            return;
        }
        if (cause instanceof DecoderException && cause.getCause() instanceof MalformedMessageException malformed) {
            counts.countMalformed();
            malformed(context, malformed.getMessage());
        } else if (cause instanceof IOException || cause.getCause() instanceof SSLException) {
            context.close();
        } else {
            LOG.error("a defect ends the connection of {}", context.channel().remoteAddress(), cause);
            context.close();
        }
    }

    private void malformed(ChannelHandlerContext context, String what) {
        if (session == NO_SESSION) {
            refuse(context, Handshake.noHello(self, what));
            return;
        }
        ending = true;
        troubles.log(
                host(context),
                () -> LOG.info("malformed bytes from {}: {}", context.channel().remoteAddress(), what));
        context.close();
    }

    private static String host(ChannelHandlerContext context) {
        return context.channel().remoteAddress() instanceof InetSocketAddress address ? address.getHostString() : "";
    }
}
