// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.pod.ResourceSpec;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Finds requests and limits that no pod can have. The schema cannot: rules about so many texts exceed its cost limit. */
final class ResourceCheck {
    private ResourceCheck() {}

    /**
     * The first problem; empty when there is none.
     *
     * @param path where the resources stand in the spec
     */
    static Optional<Finding> of(String path, ResourceSpec resources) {
        return amounts(path + ".requests", resources.requests())
                .or(() -> amounts(path + ".limits", resources.limits()))
                .or(() -> order(path, resources));
    }

    private static Optional<Finding> amounts(String path, Map<String, Quantity> amounts) {
        return new TreeMap<>(amounts)
                .entrySet().stream()
                        .filter(entry -> !isAmount(entry.getValue()))
                        .findFirst()
                        .map(entry -> problem("%s.%s is %s, which is not a quantity such as 500m, 2 or 8Gi."
                                .formatted(path, entry.getKey(), entry.getValue())));
    }

    private static Optional<Finding> order(String path, ResourceSpec resources) {
        return new TreeMap<>(resources.requests())
                .entrySet().stream()
                        .filter(request -> resources.limits().containsKey(request.getKey()))
                        .filter(request -> request.getValue()
                                        .getNumericalAmount()
                                        .compareTo(resources
                                                .limits()
                                                .get(request.getKey())
                                                .getNumericalAmount())
                                > 0)
                        .findFirst()
                        .map(request -> problem("%s: the request of %s, %s, is above its limit, %s."
                                .formatted(
                                        path,
                                        request.getKey(),
                                        request.getValue(),
                                        resources.limits().get(request.getKey()))));
    }

    private static boolean isAmount(Quantity quantity) {
        try {
            return quantity.getNumericalAmount().compareTo(BigDecimal.ZERO) >= 0;
        } catch (IllegalArgumentException | ArithmeticException e) {
            return false;
        }
    }

    private static Finding problem(String sentence) {
        return new Finding(Reason.RESOURCES_INVALID, sentence);
    }
}
