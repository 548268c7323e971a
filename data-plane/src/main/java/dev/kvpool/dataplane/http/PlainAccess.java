// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.identity.peer.Refusal;
import dev.kvpool.wire.Actor;
import dev.kvpool.wire.Verb;
import java.util.Optional;

/**
 * What a process that has an HTTPS port answers without encryption. Kubelets and Prometheus have no certificate of the pool: they keep the plain port
 * in every mode. Tokens are taken over HTTPS only, also where plain peers may do everything else.
 *
 * @param mode of this process, not off
 * @param securePort where the rest is answered
 * @param counts of refused requests
 */
record PlainAccess(TlsMode mode, int securePort, TlsCounts counts) implements AdminGuard {
    private static final int FORBIDDEN = 403;

    @Override
    public Optional<HttpsConfigurator> https() {
        return Optional.empty();
    }

    @Override
    public Decision decide(HttpExchange exchange, String method, String path) {
        Caller caller = Caller.unknown(exchange.getRemoteAddress().getAddress());
        if (isAnswered(Verb.ofRoute(method, path))) {
            return Decision.admit(caller);
        }
        counts.count(Refusal.PLAINTEXT);
        return Decision.refuse(
                caller,
                Response.text(
                        FORBIDDEN,
                        method + " " + path + " is answered over HTTPS only: port " + securePort
                                + " (--secure-admin-port). This port has health, version and metrics\n"));
    }

    private boolean isAnswered(Optional<Verb> verb) {
        return mode == TlsMode.REQUIRED
                ? verb.filter(it -> it.isOf(Actor.PLAIN)).isPresent()
                : verb.filter(it -> it == Verb.ENROL).isEmpty();
    }
}
