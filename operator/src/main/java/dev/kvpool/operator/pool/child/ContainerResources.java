// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.api.v1alpha1.ResourceSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import java.util.Map;
import java.util.TreeMap;

/** Compute resources: defaults, replaced name by name with what the user wants. */
final class ContainerResources {
    private final Map<String, Quantity> requests = new TreeMap<>();
    private final Map<String, Quantity> limits = new TreeMap<>();

    ContainerResources request(String name, Quantity amount) {
        requests.put(name, amount);
        return this;
    }

    ContainerResources limit(String name, Quantity amount) {
        limits.put(name, amount);
        return this;
    }

    /** Kubernetes wants the same amount in both for what cannot be overcommitted. */
    ContainerResources exactly(String name, Quantity amount) {
        return request(name, amount).limit(name, amount);
    }

    ContainerResources replaceWith(ResourceSpec wish) {
        requests.putAll(wish.requests());
        limits.putAll(wish.limits());
        // A limit of the user below the default request would be refused by the API server.
        wish.limits().forEach((name, limit) -> {
            Quantity request = requests.get(name);
            if (!wish.requests().containsKey(name)
                    && request != null
                    && request.getNumericalAmount().compareTo(limit.getNumericalAmount()) > 0) {
                requests.put(name, limit);
            }
        });
        return this;
    }

    ResourceRequirements build() {
        return new ResourceRequirementsBuilder()
                .withRequests(requests)
                .withLimits(limits)
                .build();
    }
}
