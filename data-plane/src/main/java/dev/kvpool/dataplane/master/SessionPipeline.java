// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.audit.AuditLog;
import dev.kvpool.dataplane.master.admission.DataPortSecurity;
import dev.kvpool.dataplane.master.admission.PeerAdmission;
import dev.kvpool.dataplane.master.loop.ConnectionCounts;
import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.wire.FrameDecoder;
import dev.kvpool.dataplane.wire.FrameEncoder;
import dev.kvpool.dataplane.wire.Handshake;
import dev.kvpool.wire.RefusalCode;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes connections sessions.
 *
 * @param encoder of all connections of the port
 */
record SessionPipeline(
        CoreLoop core,
        Handshake.Self self,
        FrameEncoder encoder,
        ConnectionCounts counts,
        ConnectedPeers peers,
        TroubleLog troubles,
        AuditLog audit)
        implements DataPortSecurity.Sessions {
    private static final Logger LOG = LoggerFactory.getLogger(SessionPipeline.class);

    /** Before the connection is active. */
    SessionHandler add(Channel connection, PeerAdmission admission) {
        FrameDecoder frames = new FrameDecoder();
        SessionHandler session = new SessionHandler(core, self, frames, counts, peers, troubles, audit, admission);
        connection.pipeline().addLast(frames, encoder, session);
        return session;
    }

    @Override
    public void open(Channel connection, PeerAdmission admission) {
        SessionHandler session = add(connection, admission);
        session.channelActive(connection.pipeline().context(session)); // it has been since before
    }

    @Override
    public void refusePlain(Channel connection) {
        SessionHandler session = add(connection, PeerAdmission.PLAIN);
        session.refuse(
                connection.pipeline().context(session),
                Handshake.refused(
                        self,
                        RefusalCode.ROLE,
                        "this pool requires TLS; give this side a certificate (KVPOOL_IDENTITY_DIR, KVPOOL_TLS_DIR or --tls-dir)"));
    }

    @Override
    public void refused(Channel connection, String why) {
        String host = connection.remoteAddress() instanceof InetSocketAddress address ? address.getHostString() : "";
        troubles.log(host + " handshake", () -> LOG.info("refused {}: {}", connection.remoteAddress(), why));
    }
}
