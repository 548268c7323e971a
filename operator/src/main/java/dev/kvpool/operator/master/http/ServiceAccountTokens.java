// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;

/**
 * Has the API server make tokens of one ServiceAccount. Needs the right to {@code create} {@code serviceaccounts/token} of that account.
 */
public final class ServiceAccountTokens implements TokenIssuer {
    /** The shortest that the API server gives. */
    public static final Duration SHORTEST_LIFE = Duration.ofMinutes(10);

    private final KubernetesClient client;
    private final String namespace;
    private final String account;
    private final Duration life;

    /**
     * Makes an issuer.
     *
     * @param namespace of the ServiceAccount
     * @param account its name
     * @param life of a token, at least {@link #SHORTEST_LIFE}; the API server may give another one
     */
    public ServiceAccountTokens(KubernetesClient client, String namespace, String account, Duration life) {
        this.client = client;
        this.namespace = namespace;
        this.account = account;
        this.life = life;
    }

    @Override
    public Issued issue(String audience) throws IOException {
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
        return new Issued(
                answer.getStatus().getToken(), Instant.parse(answer.getStatus().getExpirationTimestamp()));
    }
}
