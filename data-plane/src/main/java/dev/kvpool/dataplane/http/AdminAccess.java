// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.secure.FollowingContext;
import dev.kvpool.dataplane.secure.HandshakeBounds;
import dev.kvpool.dataplane.secure.Rights;
import dev.kvpool.dataplane.secure.TlsContext;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.secure.TlsIdentity;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.Principal;
import dev.kvpool.identity.peer.PeerCheck;
import dev.kvpool.identity.peer.PoolTls;
import dev.kvpool.identity.peer.Refusal;
import dev.kvpool.identity.peer.RefusedPeerException;
import dev.kvpool.nativelib.Uptime;
import dev.kvpool.wire.Actor;
import dev.kvpool.wire.Verb;
import java.net.InetAddress;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/** HTTPS with rights: who asks is said by the certificate of the connection, or without one by a token; what it may ask by {@link Rights}. */
public final class AdminAccess implements AdminGuard {
    /** Each has 100 KiB of buffers while it shakes hands, and a storage node's heap is small. */
    private static final int HANDSHAKES_MAX = 256;

    private static final int UNAUTHENTICATED = 401;
    private static final int FORBIDDEN = 403;

    @Override
    public Optional<HttpsConfigurator> https() {
        return Optional.of(new HttpsConfigurator(FollowingContext.of(identity, counts)) {
            @Override
            public void configure(HttpsParameters connection) {
                unknown.begin(connection.getClientAddress().getAddress()).ifPresent(reached -> {
                    counts.count(Refusal.LIMIT);
                    throw new IllegalStateException(reached); // ends the connection
                });
                SSLParameters parameters = PoolTls.parameters();
                // Not needed: who wants a certificate has none, and health is open.
                parameters.setWantClientAuth(true);
                connection.setSSLParameters(parameters);
            }
        });
    }

    /** In a session: the roots by which its certificate was believed last. */
    private static final String TRUSTED_BY = "kvpool.trustedBy";

    private final TlsIdentity identity;
    private final TlsCounts counts;
    private final Optional<TokenNames> tokens;
    private final UnknownCallers unknown;

    /**
     * For one server.
     *
     * @param identity of this process
     * @param counts of refused requests
     * @param tokens empty where only certificates count
     */
    public AdminAccess(TlsIdentity identity, TlsCounts counts, Optional<TokenNames> tokens) {
        this(identity, counts, tokens, new HandshakeBounds(HANDSHAKES_MAX, Uptime::ms));
    }

    AdminAccess(TlsIdentity identity, TlsCounts counts, Optional<TokenNames> tokens, HandshakeBounds bounds) {
        this.identity = identity;
        this.counts = counts;
        this.tokens = tokens;
        unknown = new UnknownCallers(bounds);
    }

    @Override
    public void ended() {
        unknown.end();
    }

    @Override
    public Decision decide(HttpExchange exchange, String method, String path) {
        unknown.end();
        InetAddress address = exchange.getRemoteAddress().getAddress();
        Optional<Verb> verb = Verb.ofRoute(method, path);
        if (verb.isPresent() && verb.get().isOf(Actor.ANONYMOUS)) {
            return Decision.admit(Caller.unknown(address));
        }
        SSLSession session = ((HttpsExchange) exchange).getSSLSession();
        try {
            Principal peer = principal(session);
            unknown.authenticated(address);
            return unlessAllowed(
                    new Caller(
                            Optional.of(peer.name()),
                            PeerCheck.serial(session),
                            address,
                            Instant.ofEpochMilli(peer.notAfterMs())),
                    peer.name(),
                    verb,
                    method,
                    path);
        } catch (RefusedPeerException e) {
            Optional<String> token = Request.token(exchange.getRequestHeaders());
            if (e.why() == Refusal.NO_CERTIFICATE && token.isPresent() && tokens.isPresent()) {
                return decide(tokens.get().check(token.get(), address), address, verb, method, path);
            }
            counts.count(e.why());
            if (e.why() != Refusal.NO_CERTIFICATE) {
                // A client that has another certificate by now gets to show it with its next connection.
                exchange.getResponseHeaders().set("Connection", "close");
            }
            return Decision.refuse(
                    new Caller(Optional.empty(), PeerCheck.serial(session), address),
                    Response.text(
                            e.why() == Refusal.NO_CERTIFICATE ? UNAUTHENTICATED : FORBIDDEN,
                            method + " " + path + " needs a client certificate of this pool: " + e.getMessage()
                                    + "\n"));
        }
    }

    @Override
    public boolean stillAdmits(HttpExchange exchange) {
        try {
            principal(((HttpsExchange) exchange).getSSLSession());
            return true;
        } catch (RefusedPeerException e) {
            return e.why() == Refusal.NO_CERTIFICATE; // a token's end is known to who writes
        }
    }

    /** Who asks, by a certificate that leads to a root of this moment: the handshake may have been long ago. */
    private Principal principal(SSLSession session) throws RefusedPeerException {
        TlsContext now = identity.current();
        Credentials own = now.credentials();
        Principal peer = PeerCheck.principal(session, own.name(), own.foreign(), Instant.now());
        if (own.roots().equals(session.getValue(TRUSTED_BY))) {
            return peer;
        }
        try {
            if (now.stillTrusts(session)) {
                session.putValue(TRUSTED_BY, own.roots());
                return peer;
            }
        } catch (SSLPeerUnverifiedException e) {
            throw new IllegalStateException("a peer that has a name has shown a certificate", e);
        }
        throw new RefusedPeerException(
                Refusal.UNTRUSTED,
                "the certificate of " + peer
                        + " leads to a root that is not trusted any more; connect again with one of a root in ca.crt");
    }

    private Decision decide(
            TokenNames.Bearer bearer, InetAddress address, Optional<Verb> verb, String method, String path) {
        return switch (bearer) {
            // People and controllers, who ask now and then. Others have connections, and so need a certificate anyway.
            case TokenNames.Named(PeerName name, Instant until)
            when Rights.allow(name, Verb.USE_TOKEN) -> {
                unknown.authenticated(address);
                yield unlessAllowed(new Caller(Optional.of(name), "", address, until), name, verb, method, path);
            }
            case TokenNames.Named(PeerName name, Instant until) -> {
                counts.count(Refusal.TOKEN);
                yield Decision.refuse(
                        new Caller(Optional.of(name), "", address, until),
                        Response.text(
                                FORBIDDEN,
                                name.path()
                                        + " may not use its token in place of a certificate: enrol, see `kvpool enrol --help`\n"));
            }
            case TokenNames.Refused(int status, String why) -> {
                counts.count(Refusal.TOKEN);
                yield Decision.refuse(Caller.unknown(address), Response.text(status, why + "\n"));
            }
        };
    }

    private Decision unlessAllowed(Caller caller, PeerName peer, Optional<Verb> verb, String method, String path) {
        if (verb.isPresent() && Rights.allow(peer, verb.get())) {
            return Decision.admit(caller);
        }
        counts.count(Refusal.RIGHT);
        return Decision.refuse(
                caller,
                Response.text(
                        FORBIDDEN,
                        peer.path() + " may not " + method + " " + path
                                + "; use a certificate of a role that may, such as admin\n"));
    }
}
