// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.io.IOException;
import java.security.PublicKey;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keys and issuers of the API server as far as they were asked for. What is not known is asked for, but tokens with invented key ids must not make a
 * master ask without end: at most once in ten seconds.
 */
final class KnownKeys {
    private static final Logger LOG = LoggerFactory.getLogger(KnownKeys.class);

    static final Duration BETWEEN_QUESTIONS = Duration.ofSeconds(10);

    private final KeySource source;
    private final LongSupplier uptimeMs;
    private volatile SigningKeys keys = SigningKeys.parse("{\"keys\": []}");

    /** Those of before too: when an issuer is renamed, API servers take tokens of the old name until these end. */
    private final Set<String> issuers = ConcurrentHashMap.newKeySet();

    private OptionalLong askedMs = OptionalLong.empty();
    private String problem = "";

    KnownKeys(KeySource source, LongSupplier uptimeMs) {
        this.source = source;
        this.uptimeMs = uptimeMs;
    }

    /**
     * The key of this id. One that is known does not wait for the API server.
     *
     * @throws RefusedTokenException when no such key is known, with what went wrong when they were asked for last
     */
    PublicKey find(String id) throws RefusedTokenException {
        Optional<PublicKey> known = keys.find(id);
        return known.isPresent() ? known.get() : askedFor(id);
    }

    private synchronized PublicKey askedFor(String id) throws RefusedTokenException {
        if (keys.find(id).isEmpty() && mayAsk()) {
            ask();
        }
        Optional<PublicKey> known = keys.find(id);
        if (known.isPresent()) {
            return known.get();
        }
        throw problem.isEmpty()
                ? new RefusedTokenException(
                        RefusedTokenException.Reason.SIGNATURE,
                        "the token is not signed by a key of this cluster's API server")
                : new RefusedTokenException(RefusedTokenException.Reason.KEYS_UNKNOWN, problem);
    }

    /** Whether tokens of this issuer are of this cluster; of each where the source does not know. */
    boolean isIssuer(String name) {
        return issuers.contains(name) || isIssuerWhenAsked(name);
    }

    /** Those that are known, for people. */
    Set<String> issuers() {
        return Set.copyOf(issuers);
    }

    private synchronized boolean isIssuerWhenAsked(String name) {
        if (!issuers.isEmpty() && !issuers.contains(name) && mayAsk()) {
            ask();
        }
        return issuers.isEmpty() || issuers.contains(name);
    }

    private boolean mayAsk() {
        return askedMs.isEmpty() || uptimeMs.getAsLong() - askedMs.getAsLong() >= BETWEEN_QUESTIONS.toMillis();
    }

    private void ask() {
        askedMs = OptionalLong.of(uptimeMs.getAsLong());
        try {
            keys = SigningKeys.parse(source.keySet());
            problem = "";
        } catch (IOException | IllegalArgumentException e) {
            problem = "the keys of the API server are not known: " + e.getMessage();
            return;
        }
        try {
            source.issuer().ifPresent(issuers::add);
        } catch (IOException | IllegalArgumentException e) {
            // A token that one of these keys signed is of this cluster whatever its issuer is called.
            LOG.warn(
                    "the issuer of the API server's tokens is not known, and not looked at until it is: {}",
                    e.getMessage());
        }
    }
}
