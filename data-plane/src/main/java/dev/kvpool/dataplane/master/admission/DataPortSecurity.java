// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import dev.kvpool.dataplane.health.Defects;
import dev.kvpool.dataplane.master.admission.PeerAdmission.Proven;
import dev.kvpool.dataplane.secure.ConnectionProof;
import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.secure.HandshakeBounds;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.secure.RemoteNetwork;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.identity.name.Principal;
import dev.kvpool.identity.peer.PeerCheck;
import dev.kvpool.identity.peer.PoolTls;
import dev.kvpool.identity.peer.Refusal;
import dev.kvpool.identity.peer.RefusedPeerException;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;

/** TLS on a master's data port. Private keys are used and chains checked on threads of their own, beside the event loop. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it
public final class DataPortSecurity implements AutoCloseable {
    private static final int THREADS_MAX = 4;

    private final PoolSecurity security;
    private final HandshakeQueue handshakes;
    private final HandshakeBounds bounds;

    /**
     * With nothing accepted yet.
     *
     * @param uptimeMs milliseconds of a clock that is never set
     * @param defects told of errors in handshakes
     */
    public DataPortSecurity(PoolSecurity security, LongSupplier uptimeMs, Defects defects) {
        this.security = security;
        bounds = new HandshakeBounds(HandshakeQueue.OPEN_MAX, uptimeMs);
        int threads = Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, THREADS_MAX);
        handshakes = new HandshakeQueue(threads, defects);
    }

    /** What happens to connections. */
    public interface Sessions {
        /** Adds the handlers of a session to the end of the pipeline. */
        void open(Channel connection, PeerAdmission admission);

        /** Tells a plain peer that it has to speak TLS, and ends the connection. */
        void refusePlain(Channel connection);

        /** A connection ends before it is a session, for this reason, which is logged. */
        void refused(Channel connection, String why);
    }

    /** Decides what a new connection speaks, and goes on with it. */
    public void accept(Channel connection, Sessions sessions) {
        if (!(connection.remoteAddress() instanceof InetSocketAddress peer)) {
            connection.close(); // it is gone already
            return;
        }
        RemoteNetwork from = RemoteNetwork.of(peer.getAddress());
        Optional<String> reached = bounds.begin(from);
        if (reached.isPresent()) {
            security.counts().count(Refusal.LIMIT);
            sessions.refused(connection, reached.get());
            connection.close();
            return;
        }
        connection.pipeline().addLast(new TlsGate(this, from, sessions));
    }

    void ended(RemoteNetwork from) {
        bounds.end(from);
    }

    boolean takesPlain() {
        return security.mode() == TlsMode.PERMISSIVE;
    }

    void count(Refusal refusal) {
        security.counts().count(refusal);
    }

    void failed(Refusal refusal) {
        security.counts().countFailedHandshake();
        security.counts().count(refusal);
    }

    /** A handler for the connection, and what will say who is at its other end. */
    void secure(
            Channel connection,
            RemoteNetwork from,
            BiConsumer<SslHandler, PeerAdmission> use,
            Consumer<SslHandler> done) {
        TlsContext tls = security.current().orElseThrow();
        SSLEngine engine = tls.context().createSSLEngine();
        engine.setUseClientMode(false);
        SSLParameters parameters = PoolTls.parameters();
        parameters.setNeedClientAuth(true);
        engine.setSSLParameters(parameters);
        SslHandler handler = new SslHandler(engine, handshakes.of(connection, bounds.isKnown(from)));
        handler.setHandshakeTimeoutMillis(0); // the gate has its own, which counts from the first byte
        OfConnection authentication = new OfConnection(engine, security, tls, handshakes.ofProofs(connection));
        use.accept(handler, new PeerAdmission(authentication, security.counts()));
        handler.handshakeFuture().addListener(_ -> done.accept(handler));
    }

    /** Who is at the other end of a connection, by the certificate of its handshake. */
    private static final class OfConnection implements PeerAdmission.Authentication {
        private static final int HEXADECIMAL = 16;

        private final SSLEngine engine;
        private final PoolSecurity security;
        private final Credentials own;
        private final Executor work;
        private List<X509Certificate> trustedBy;
        private Optional<Proven> proven = Optional.empty();

        OfConnection(SSLEngine engine, PoolSecurity security, TlsContext tls, Executor work) {
            this.engine = engine;
            this.security = security;
            this.work = work;
            own = tls.credentials();
            trustedBy = own.roots();
        }

        @Override
        public boolean isTrusted() {
            TlsContext now = security.current().orElseThrow();
            List<X509Certificate> roots = now.credentials().roots();
            if (roots.equals(trustedBy)) {
                return true;
            }
            try {
                boolean still = proven.isPresent()
                        ? now.stillTrusts(proven.get().chain())
                        : now.stillTrusts(engine.getSession());
                if (!still) {
                    return false;
                }
            } catch (SSLPeerUnverifiedException e) {
                return false;
            }
            trustedBy = roots;
            return true;
        }

        @Override
        public Credentials shown() {
            return own;
        }

        @Override
        public Credentials current() {
            return security.current().orElseThrow().credentials();
        }

        @Override
        public Executor work() {
            return work;
        }

        @Override
        public CertificateProof prove(Credentials current) throws GeneralSecurityException {
            return ConnectionProof.of(engine.getSession()).make(ConnectionProof.Prover.LISTENER, current);
        }

        @Override
        public Proven check(CertificateProof proof) throws GeneralSecurityException, RefusedPeerException {
            TlsContext now = security.current().orElseThrow();
            Credentials current = now.credentials();
            List<X509Certificate> chain =
                    ConnectionProof.of(engine.getSession()).check(proof, now.trust());
            Principal principal = PeerCheck.principal(
                    chain.toArray(X509Certificate[]::new), current.name(), current.foreign(), Instant.now());
            return new Proven(principal, chain, current.roots());
        }

        @Override
        public void take(Proven peer) {
            proven = Optional.of(peer);
            trustedBy = peer.roots();
        }

        @Override
        public Principal principal() throws RefusedPeerException {
            return PeerCheck.principal(engine.getSession(), own.name(), own.foreign(), Instant.now());
        }

        @Override
        public String serial() {
            return proven.map(it -> it.chain().getFirst().getSerialNumber().toString(HEXADECIMAL))
                    .orElseGet(() -> PeerCheck.serial(engine.getSession()));
        }
    }

    void succeeded(RemoteNetwork from) {
        bounds.authenticated(from);
        security.counts().countHandshake();
    }

    @Override
    public void close() {
        handshakes.close();
    }
}
