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
    /** The shortest that the API server gives: with the plugin, the token goes through it to a pod that it does not verify. */
    private static final long LIFE_S = 600;

    /** Of pools that are gone nothing says that they are, so what has ended is dropped with the next token that is made. */
    private final Map<String, Token> byAudience = new ConcurrentHashMap<>();

    private final KubernetesClient client;
    private final String namespace;
    private final String account;
    private final InstantSource clock;

    private record Token(String text, Instant useUntil) {}

    /**
     * Makes a source.
     *
     * @param namespace of the ServiceAccount
     * @param account its name
     */
    public ServiceAccountTokens(KubernetesClient client, String namespace, String account, InstantSource clock) {
        this.client = client;
        this.namespace = namespace;
        this.account = account;
        this.clock = clock;
    }

    @Override
    public String token(String audience) throws IOException {
        Instant now = clock.instant();
        Token known = byAudience.get(audience);
        if (known != null && now.isBefore(known.useUntil())) {
            return known.text();
        }
        byAudience.values().removeIf(token -> !now.isBefore(token.useUntil()));
        Token token = ask(audience, now);
        byAudience.put(audience, token);
        return token.text();
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
                            .withExpirationSeconds(LIFE_S)
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
        Duration life = Duration.between(now, Instant.parse(answer.getStatus().getExpirationTimestamp()));
        return new Token(
                answer.getStatus().getToken(), now.plus(life.multipliedBy(4).dividedBy(5)));
    }
}
