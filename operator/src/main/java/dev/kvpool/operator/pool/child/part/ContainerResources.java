// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.pod.ResourceSpec;
import dev.kvpool.operator.pool.sizing.HugePageResource;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.api.model.ResourceRequirementsBuilder;
import java.util.Map;
import java.util.TreeMap;

/** Compute resources: defaults, replaced name by name with what the user wants. */
public final class ContainerResources {
    private final Map<String, Quantity> requests = new TreeMap<>();
    private final Map<String, Quantity> limits = new TreeMap<>();

    public ContainerResources request(String name, Quantity amount) {
        requests.put(name, amount);
        return this;
    }

    public ContainerResources limit(String name, Quantity amount) {
        limits.put(name, amount);
        return this;
    }

    /** Kubernetes wants the same amount in both for what cannot be overcommitted. */
    public ContainerResources exactly(String name, Quantity amount) {
        return request(name, amount).limit(name, amount);
    }

    public ContainerResources replaceWith(ResourceSpec wish) {
        requests.putAll(wish.requests());
        limits.putAll(wish.limits());
        // A limit of the user below the default request would be refused by the API server.
        wish.limits().forEach((name, limit) -> {
            Quantity request = requests.get(name);
            if (!wish.requests().containsKey(name) && request != null && isAbove(request, limit)) {
                requests.put(name, limit);
            }
        });
        // And so would a request of the user above the default limit.
        wish.requests().forEach((name, request) -> {
            Quantity limit = limits.get(name);
            if (!wish.limits().containsKey(name) && limit != null && isAbove(request, limit)) {
                limits.put(name, request);
            }
        });
        limits.keySet().stream()
                .filter(name -> name.startsWith(HugePageResource.PREFIX))
                .forEach(name -> requests.put(name, limits.get(name)));
        return this;
    }

    private static boolean isAbove(Quantity amount, Quantity other) {
        return amount.getNumericalAmount().compareTo(other.getNumericalAmount()) > 0;
    }

    public ResourceRequirements build() {
        return new ResourceRequirementsBuilder()
                .withRequests(requests)
                .withLimits(limits)
                .build();
    }
}
