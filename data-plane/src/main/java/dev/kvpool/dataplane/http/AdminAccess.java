// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsParameters;
import dev.kvpool.dataplane.secure.FollowingContext;
import dev.kvpool.dataplane.secure.Rights;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.secure.TlsIdentity;
import dev.kvpool.dataplane.secure.Verb;
import dev.kvpool.identity.name.Principal;
import dev.kvpool.identity.peer.PeerCheck;
import dev.kvpool.identity.peer.PoolTls;
import dev.kvpool.identity.peer.Refusal;
import dev.kvpool.identity.peer.RefusedPeerException;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.SSLParameters;

/**
 * HTTPS with rights: who asks is said by the certificate of the connection, what it may ask by {@link Rights}.
 *
 * @param identity of this process
 * @param counts of refused requests
 */
public record AdminAccess(TlsIdentity identity, TlsCounts counts) implements AdminGuard {
    private static final int UNAUTHENTICATED = 401;
    private static final int FORBIDDEN = 403;

    @Override
    public Optional<HttpsConfigurator> https() {
        return Optional.of(new HttpsConfigurator(FollowingContext.of(identity, counts)) {
            @Override
            public void configure(HttpsParameters connection) {
                SSLParameters parameters = PoolTls.parameters();
                // Not needed: who wants a certificate has none, and health is open.
                parameters.setWantClientAuth(true);
                connection.setSSLParameters(parameters);
            }
        });
    }

    @Override
    public Optional<Response> refusal(HttpExchange exchange, String method, String path) {
        Optional<Verb> verb = Rights.ofRoute(method, path);
        if (verb.isPresent() && verb.get().isOpen()) {
            return Optional.empty();
        }
        try {
            Principal peer = PeerCheck.principal(
                    ((HttpsExchange) exchange).getSSLSession(),
                    identity.current().credentials().name(),
                    Instant.now());
            if (verb.isPresent() && verb.get().isAllowed(peer.name())) {
                return Optional.empty();
            }
            counts.count(Refusal.RIGHT);
            return Optional.of(Response.text(
                    FORBIDDEN,
                    peer + " may not " + method + " " + path
                            + "; use a certificate of a role that may, such as admin\n"));
        } catch (RefusedPeerException e) {
            counts.count(e.why());
            return Optional.of(Response.text(
                    e.why() == Refusal.NO_CERTIFICATE ? UNAUTHENTICATED : FORBIDDEN,
                    method + " " + path + " needs a client certificate of this pool: " + e.getMessage() + "\n"));
        }
    }
}
