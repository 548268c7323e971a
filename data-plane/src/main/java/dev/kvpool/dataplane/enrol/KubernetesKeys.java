// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;

/** The keys of the API server, which it tells each ServiceAccount (ClusterRole system:service-account-issuer-discovery). */
final class KubernetesKeys implements KeySource {
    private static final String PATH = "/openid/v1/jwks";
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
        try {
            String keys = client().raw(PATH);
            if (keys == null) {
                throw new IOException("the API server has no " + PATH
                        + "; it must run with a --service-account-issuer, or give masters --token-keys");
            }
            return keys;
        } catch (KubernetesClientException e) {
            throw new IOException(
                    "GET " + PATH + ": " + e.getMessage()
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
