// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.api.v1alpha1.Protocol;
import dev.kvpool.operator.pool.ObservedPod;
import dev.kvpool.operator.pool.PoolLabels;
import dev.kvpool.operator.pool.PoolNames;
import dev.kvpool.operator.pool.PoolObservation;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.Optional;

/** Why storage nodes do not serve ucx: they alone know, so each of them is asked where the transfer engine wants it. */
final class UcxRefusals {
    /** A pool may have hundreds, each of which is a request through the API server. */
    private static final int NODES_MAX = 16;

    private static final ObjectMapper JSON = new ObjectMapper();

    private UcxRefusals() {}

    /** A sentence for each of the first storage nodes that does not serve it; none where nobody asked for it. */
    static List<String> of(PoolObservation seen, PodProxyMasters pods) {
        boolean wanted = seen.engine()
                .filter(engine -> engine.getSpec().protocols().contains(Protocol.UCX))
                .isPresent();
        if (!wanted) {
            return List.of();
        }
        return seen.pods(PoolLabels.ROLE_STORAGE).stream()
                .filter(ObservedPod::started)
                .limit(NODES_MAX)
                .flatMap(pod -> refusal(pod.name(), pods).stream())
                .toList();
    }

    private static Optional<String> refusal(String pod, PodProxyMasters pods) {
        try {
            JsonNode protocols = JSON.readTree(pods.text(pod, PoolNames.NODE_ADMIN_PORT, "/api/v1/node"))
                    .path("protocols");
            for (JsonNode served : protocols.path("served")) {
                if (served.asText().equals("ucx")) {
                    return Optional.empty();
                }
            }
            String problem = protocols.path("problem").asText("");
            return Optional.of("%s does not serve ucx, its clients use tcp: %s"
                    .formatted(
                            pod, problem.isEmpty() ? "it was started without it, and waits to be replaced" : problem));
        } catch (JacksonException e) {
            return Optional.of("%s was asked whether it serves ucx, and its answer is not JSON".formatted(pod));
        } catch (KubernetesClientException e) {
            return Optional.of("%s could not be asked whether it serves ucx: %s".formatted(pod, Sentences.of(e)));
        }
    }
}
