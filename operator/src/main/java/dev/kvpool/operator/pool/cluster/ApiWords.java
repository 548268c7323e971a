// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import dev.kvpool.operator.pool.naming.ObjectTitle;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;

/** What people read about an object of a pool and the API server. */
final class ApiWords {
    private ApiWords() {}

    static Finding notChanged(HasMetadata object, KubernetesClientException e) {
        return new Finding(
                Reason.APPLY_FAILED, "%s could not be changed: %s".formatted(ObjectTitle.of(object), sentence(e)));
    }

    static Finding nameTaken(HasMetadata object) {
        return new Finding(
                Reason.NAME_TAKEN,
                "A %s that does not belong to this pool already exists. Remove it, or rename the pool."
                        .formatted(ObjectTitle.of(object)));
    }

    private static String sentence(KubernetesClientException e) {
        return e.getStatus() == null || e.getStatus().getMessage() == null
                ? e.getMessage()
                : e.getStatus().getMessage();
    }
}
