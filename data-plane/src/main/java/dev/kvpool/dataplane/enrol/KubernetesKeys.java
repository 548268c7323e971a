// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.util.Optional;

/** Keys and issuer of the API server, which it tells each ServiceAccount (ClusterRole system:service-account-issuer-discovery). */
final class KubernetesKeys implements KeySource {
    private static final String KEYS = "/openid/v1/jwks";
    private static final String CONFIGURATION = "/.well-known/openid-configuration";
    private static final ObjectReader JSON = new ObjectMapper().reader();
    private static final int TIMEOUT_MS = 3_000;

    private final Config server;
    private KubernetesClient client;

    /**
     * Connects with the first question.
     *
     * @param server how to reach it, such as a pod's own configuration
     */
    KubernetesKeys(Config server) {
        this.server = new ConfigBuilder(server)
                .withRequestTimeout(TIMEOUT_MS)
                .withConnectionTimeout(TIMEOUT_MS)
                .withRequestRetryBackoffLimit(0)
                .build();
    }

    @Override
    public String keySet() throws IOException {
        return get(KEYS);
    }

    @Override
    public Optional<String> issuer() throws IOException {
        String issuer = JSON.readTree(get(CONFIGURATION)).path("issuer").asText("");
        if (issuer.isEmpty()) {
            throw new IOException(CONFIGURATION + " of the API server names no issuer; give masters --token-keys");
        }
        return Optional.of(issuer);
    }

    private String get(String path) throws IOException {
        try {
            String found = client().raw(path);
            if (found == null) {
                throw new IOException("the API server has no " + path
                        + "; it must run with a --service-account-issuer, or give masters --token-keys");
            }
            return found;
        } catch (KubernetesClientException e) {
            throw new IOException(
                    "GET " + path + ": " + e.getMessage()
                            + "; ServiceAccounts need ClusterRole system:service-account-issuer-discovery, or give masters --token-keys",
                    e);
        }
    }

    private synchronized KubernetesClient client() {
        if (client == null) {
            client = new KubernetesClientBuilder().withConfig(server).build();
        }
        return client;
    }

    @Override
    public synchronized void close() {
        if (client != null) {
            client.close();
        }
    }
}
