// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.plugin.failure.Sentences;
import dev.kvpool.operator.plugin.observation.AdminPage;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What storage nodes alone know and people should: why one does not serve ucx or ascend where its transfer engine wants it, and what lies
 * beside its segment that it could not use.
 */
public final class NodeNotes {
    /** A pool may have hundreds, each of which is a request through the API server. */
    private static final int NODES_MAX = 16;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long MIB = 1L << 20;

    private NodeNotes() {}

    /**
     * Sentences about the first storage nodes.
     *
     * @param fabric which of ucx and ascend the pool's transfer engine wants; empty for neither
     * @param pods of the pool
     */
    public static List<String> of(String fabric, List<Pod> pods, PodProxyMasters proxy) {
        List<Pod> asked = pods.stream()
                .filter(pod -> AdminPage.role(pod).equals(PoolLabels.ROLE_STORAGE)
                        && ObservedPod.of(pod).started()
                        // They take certificates only, and this side has a token.
                        && ObservedPod.of(pod).security() != SecurityMode.REQUIRED)
                .limit(NODES_MAX)
                .toList();
        return PodProxyMasters.atOnce(
                        asked,
                        pod -> AdminPage.of(pod)
                                .map(page -> of(pod.getMetadata().getName(), page, proxy, fabric))
                                .orElse(List.of()))
                .flatMap(List::stream)
                .toList();
    }

    private static List<String> of(String pod, AdminPage page, PodProxyMasters proxy, String fabric) {
        try {
            JsonNode says = JSON.readTree(proxy.text(MasterEndpoint.plain(pod), page.port(), page.path()));
            List<String> notes = new ArrayList<>();
            if (!fabric.isEmpty()) {
                refusal(pod, fabric, says.path("protocols")).ifPresent(notes::add);
            }
            filesSetAside(pod, says.path("setAside")).ifPresent(notes::add);
            return notes;
        } catch (JacksonException e) {
            return List.of("%s was asked what it knows, and its answer is not JSON".formatted(pod));
        } catch (KubernetesClientException e) {
            return List.of("%s could not be asked what it knows: %s".formatted(pod, Sentences.of(e)));
        }
    }

    private static Optional<String> refusal(String pod, String fabric, JsonNode protocols) {
        for (JsonNode served : protocols.path("served")) {
            if (served.asText().equals(fabric)) {
                return Optional.empty();
            }
        }
        String problem = protocols.path("problem").asText("");
        return Optional.of("%s does not serve %s, its clients use tcp: %s"
                .formatted(
                        pod,
                        fabric,
                        problem.isEmpty() ? "it was started without it, and waits to be replaced" : problem));
    }

    private static Optional<String> filesSetAside(String pod, JsonNode aside) {
        long damaged = aside.path("damaged").asLong();
        long foreign = aside.path("foreign").asLong();
        if (damaged + foreign == 0) {
            return Optional.empty();
        }
        return Optional.of(
                ("%s found %d damaged and %d foreign files in the place of its own, and set them aside: they take %d Mi"
                                + " there until you delete them (*.set-aside-*)")
                        .formatted(pod, damaged, foreign, aside.path("bytes").asLong() / MIB));
    }
}
