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
        public Optional<Response> refusal(HttpExchange exchange, String method, String path) {
            return Optional.empty();
        }
    };

    /** How it speaks HTTPS; empty for HTTP. */
    Optional<HttpsConfigurator> https();

    /**
     * The answer to a request that may not be made; empty when it may.
     *
     * @param method GET for HEAD
     */
    Optional<Response> refusal(HttpExchange exchange, String method, String path);
}
