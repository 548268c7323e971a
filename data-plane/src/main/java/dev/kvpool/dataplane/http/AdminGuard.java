// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import java.util.Optional;

/** How an admin server speaks, and which requests it answers. */
public interface AdminGuard {
    /** Plain, and all may ask everything. */
    AdminGuard OPEN = new AdminGuard() {
        @Override
        public Optional<HttpsConfigurator> https() {
            return Optional.empty();
        }

        @Override
        public Decision decide(HttpExchange exchange, String method, String path) {
            return Decision.admit(Caller.unknown(exchange.getRemoteAddress().getAddress()));
        }
    };

    /**
     * About one request.
     *
     * @param caller who makes it
     * @param refusal the answer when it may not be made
     */
    record Decision(Caller caller, Optional<Response> refusal) {
        static Decision admit(Caller caller) {
            return new Decision(caller, Optional.empty());
        }

        static Decision refuse(Caller caller, Response answer) {
            return new Decision(caller, Optional.of(answer));
        }
    }

    /** How it speaks HTTPS; empty for HTTP. */
    Optional<HttpsConfigurator> https();

    /** Whether a caller that was admitted may read on what has no end. */
    default boolean stillAdmits(HttpExchange exchange) {
        return true;
    }

    /** The thread of a connection's request ends, in whatever way. */
    default void ended() {}

    /**
     * Decides whether a request may be made.
     *
     * @param method GET for HEAD
     */
    Decision decide(HttpExchange exchange, String method, String path);
}
