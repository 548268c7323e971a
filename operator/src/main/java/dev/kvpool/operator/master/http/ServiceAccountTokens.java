// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tokens of one ServiceAccount, each for one pool. A token is used until four fifths of its life have passed. Needs the right to {@code create}
 * {@code serviceaccounts/token} of that account.
 */
public final class ServiceAccountTokens implements PoolTokens {
    /** The shortest that the API server gives. */
    public static final Duration SHORTEST_LIFE = Duration.ofMinutes(10);

    /** Of pools that are gone nothing says that they are, so what has ended is dropped with the next token that is made. */
    private final Map<String, Audience> audiences = new ConcurrentHashMap<>();

    private final KubernetesClient client;
    private final String namespace;
    private final String account;
    private final Duration life;
    private final InstantSource clock;

    private record Token(String text, Instant useUntil) {}

    /** Who asks while a token is made waits for it: all masters of a pool are asked at once. */
    private final class Audience {
        private final String name;
        private volatile Token token;

        private Audience(String name) {
            this.name = name;
        }

        private synchronized String token(Instant now) throws IOException {
            if (token == null || hasEnded(now)) {
                token = ask(name, now);
            }
            return token.text();
        }

        /** Not so before it began. */
        private boolean hasEnded(Instant now) {
            Token last = token;
            return last != null && !now.isBefore(last.useUntil());
        }
    }

    /**
     * Makes a source.
     *
     * @param namespace of the ServiceAccount
     * @param account its name
     * @param life of a token, at least {@link #SHORTEST_LIFE}
     */
    public ServiceAccountTokens(
            KubernetesClient client, String namespace, String account, Duration life, InstantSource clock) {
        this.client = client;
        this.namespace = namespace;
        this.account = account;
        this.life = life;
        this.clock = clock;
    }

    @Override
    public String token(String audience) throws IOException {
        Instant now = clock.instant();
        Audience known = audiences.get(audience);
        if (known == null) {
            audiences.values().removeIf(other -> other.hasEnded(now));
            known = audiences.computeIfAbsent(audience, Audience::new);
        }
        return known.token(now);
    }

    private Token ask(String audience, Instant now) throws IOException {
        TokenRequest answer;
        try {
            answer = client.serviceAccounts()
                    .inNamespace(namespace)
                    .withName(account)
                    .tokenRequest(new TokenRequestBuilder()
                            .withNewSpec()
                            .withAudiences(audience)
                            .withExpirationSeconds(life.toSeconds())
                            .endSpec()
                            .build());
        } catch (KubernetesClientException e) {
            throw new IOException(
                    "the API server gives no token of ServiceAccount %s/%s: %s"
                            .formatted(
                                    namespace,
                                    account,
                                    e.getStatus() == null || e.getStatus().getMessage() == null
                                            ? e.getMessage()
                                            : e.getStatus().getMessage()),
                    e);
        }
        if (answer == null || answer.getStatus() == null) {
            throw new IOException("there is no ServiceAccount %s/%s to have a token of".formatted(namespace, account));
        }
        // The API server may give another life than was asked for.
        Duration given = Duration.between(now, Instant.parse(answer.getStatus().getExpirationTimestamp()));
        return new Token(
                answer.getStatus().getToken(), now.plus(given.multipliedBy(4).dividedBy(5)));
    }
}
