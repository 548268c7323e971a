// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.engine.IpFamily;
import io.fabric8.kubernetes.api.model.ServiceSpecBuilder;
import java.util.List;

/** IP families of Services. Without a wish the cluster decides, and nothing is written. */
public final class ServiceFamilies {
    private ServiceFamilies() {}

    public static ServiceSpecBuilder apply(ServiceSpecBuilder service, List<IpFamily> families) {
        if (families.isEmpty()) {
            return service;
        }
        return service.withIpFamilyPolicy(families.size() == 1 ? "SingleStack" : "RequireDualStack")
                .withIpFamilies(families.stream().map(ServiceFamilies::name).toList());
    }

    private static String name(IpFamily family) {
        return switch (family) {
            case IPV4 -> "IPv4";
            case IPV6 -> "IPv6";
        };
    }
}
