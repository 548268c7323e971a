// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.observation;

import com.fasterxml.jackson.annotation.JsonIncludeProperties;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.plugin.failure.PluginException;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;

/**
 * Reads of pools, Leases and pods what shows how they are. Jackson learns a kind with all that can be in it, and a pod's volumes and a pool's
 * spec are most of that: to learn them takes longer than the request.
 */
public final class PoolExcerpts {
    private static final ObjectMapper JSON = JsonMapper.builder()
            // Of a newer version of the operator, which writes more.
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .addMixIn(Pod.class, OfPod.class)
            .addMixIn(Lease.class, OfLease.class)
            .addMixIn(LeaseSpec.class, OfLeaseSpec.class)
            .addMixIn(ObjectMeta.class, OfMeta.class)
            .addMixIn(PodSpec.class, OfSpec.class)
            .addMixIn(Container.class, OfContainer.class)
            .addMixIn(PodStatus.class, OfStatus.class)
            .addMixIn(ContainerStatus.class, OfContainerStatus.class)
            .build();

    private PoolExcerpts() {}

    /** Begins to learn what a pod is, beside what else is done. */
    public static void getReady() {
        pod(JSON.createObjectNode());
    }

    /** What ObservedPod and AdminPage look at. */
    public static Pod pod(JsonNode written) {
        return read(written, Pod.class);
    }

    /** Who holds it, and not since when. */
    public static Lease lease(JsonNode written) {
        return read(written, Lease.class);
    }

    /** Its metadata and status; there is no spec. */
    public static KvCachePool pool(JsonNode written) {
        KvCachePool pool = new KvCachePool();
        pool.setMetadata(read(written.path("metadata"), ObjectMeta.class));
        pool.setSpec(null);
        pool.setStatus(
                written.path("status").isMissingNode() ? null : read(written.path("status"), KvCachePoolStatus.class));
        return pool;
    }

    private static <T> T read(JsonNode written, Class<T> kind) {
        try {
            return JSON.treeToValue(written, kind);
        } catch (JsonProcessingException e) {
            throw new PluginException(
                    "the API server's answer is no %s: %s".formatted(kind.getSimpleName(), e.getOriginalMessage()));
        }
    }

    @JsonIncludeProperties({"metadata", "spec", "status"})
    private interface OfPod {}

    @JsonIncludeProperties({"name", "namespace", "uid", "labels", "annotations", "ownerReferences", "deletionTimestamp"
    })
    private interface OfMeta {}

    @JsonIncludeProperties({"metadata", "spec"})
    private interface OfLease {}

    @JsonIncludeProperties({"holderIdentity", "leaseTransitions"})
    private interface OfLeaseSpec {}

    @JsonIncludeProperties({"nodeName", "containers", "imagePullSecrets"})
    private interface OfSpec {}

    @JsonIncludeProperties({"name", "image", "ports"})
    private interface OfContainer {}

    @JsonIncludeProperties({"podIP", "conditions", "containerStatuses", "initContainerStatuses"})
    private interface OfStatus {}

    @JsonIncludeProperties({"name", "imageID", "restartCount", "state", "lastState"})
    private interface OfContainerStatus {}
}
