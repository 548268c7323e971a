// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;

/**
 * Deletes the very object that was decided about. What is seen may be old: another object may have its name by now, such as the pod that
 * Kubernetes has made in its place, and that one has something to lose.
 */
final class ExactDeletion {
    private static final String BACKGROUND = "Background";

    private ExactDeletion() {}

    /**
     * Asks the API server to delete it.
     *
     * @return false when it is not there any more, whatever has its name now
     */
    static boolean delete(KubernetesClient client, HasMetadata object) {
        DeleteOptions options = new DeleteOptionsBuilder()
                .withPropagationPolicy(BACKGROUND)
                .withNewPreconditions()
                .withUid(object.getMetadata().getUid())
                .endPreconditions()
                .build();
        try {
            client.raw(path(object), "DELETE", options);
            return true;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT || e.getCode() == HttpURLConnection.HTTP_NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    private static String path(HasMetadata object) {
        String version = object.getApiVersion();
        return "/%s/%s/namespaces/%s/%s/%s"
                .formatted(
                        version.contains("/") ? "apis" : "api",
                        version,
                        object.getMetadata().getNamespace(),
                        object.getPlural(),
                        object.getMetadata().getName());
    }
}
