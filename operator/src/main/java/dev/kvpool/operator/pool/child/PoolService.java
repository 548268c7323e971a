// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child;

import dev.kvpool.operator.pool.blueprint.PoolBlueprint;
import dev.kvpool.operator.pool.child.part.ServiceFamilies;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceBuilder;
import io.fabric8.kubernetes.api.model.ServicePort;
import io.fabric8.kubernetes.api.model.ServicePortBuilder;
import io.fabric8.kubernetes.api.model.ServiceSpecBuilder;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The Services of a pool. */
public final class PoolService {
    private PoolService() {}

    /** Gives each master a name. Masters must find each other before they are ready. */
    public static Service masters(PoolBlueprint pool) {
        return headless(
                pool,
                pool.names().masters(),
                PoolLabels.ROLE_MASTER,
                List.of(
                        port(PoolNames.RPC, PoolNames.MASTER_PORT),
                        port(PoolNames.ADMIN, PoolNames.MASTER_ADMIN_PORT)));
    }

    /** Gives each storage node a name, and monitoring one place to find them all. */
    public static Service storage(PoolBlueprint pool) {
        return headless(
                pool,
                pool.names().storageService(),
                PoolLabels.ROLE_STORAGE,
                List.of(
                        port(PoolNames.DATA, pool.engine().ports().base()),
                        port(PoolNames.ADMIN, PoolNames.NODE_ADMIN_PORT)));
    }

    /** Leads to the leading master. For people and HTTP; clients know all masters and find the leader themselves. */
    public static Service leader(PoolBlueprint pool) {
        Map<String, String> selector = PoolLabels.selectRole(pool.names().pool(), PoolLabels.ROLE_MASTER);
        selector.put(PoolLabels.LEADER, "true");
        return new ServiceBuilder()
                .withMetadata(pool.metadata(
                        pool.names().leaderService(),
                        PoolLabels.ofRole(pool.names().pool(), PoolLabels.ROLE_MASTER)))
                .withSpec(ServiceFamilies.apply(
                                new ServiceSpecBuilder()
                                        .withType("ClusterIP")
                                        .withSelector(selector)
                                        .withPorts(secured(
                                                pool,
                                                List.of(
                                                        port(PoolNames.RPC, PoolNames.MASTER_PORT),
                                                        port(PoolNames.ADMIN, PoolNames.MASTER_ADMIN_PORT)))),
                                pool.engine().ipFamilies())
                        .build())
                .build();
    }

    private static Service headless(PoolBlueprint pool, String name, String role, List<ServicePort> ports) {
        return new ServiceBuilder()
                .withMetadata(pool.metadata(name, PoolLabels.ofRole(pool.names().pool(), role)))
                .withSpec(ServiceFamilies.apply(
                                new ServiceSpecBuilder()
                                        .withType("ClusterIP")
                                        .withClusterIP("None")
                                        .withPublishNotReadyAddresses(true)
                                        .withSelector(PoolLabels.selectRole(
                                                pool.names().pool(), role))
                                        .withPorts(secured(pool, ports)),
                                pool.engine().ipFamilies())
                        .build())
                .build();
    }

    private static List<ServicePort> secured(PoolBlueprint pool, List<ServicePort> ports) {
        return pool.security().isOn()
                ? Stream.concat(ports.stream(), Stream.of(port(PoolNames.ADMIN_TLS, PoolNames.SECURE_ADMIN_PORT)))
                        .toList()
                : ports;
    }

    private static ServicePort port(String name, int number) {
        return new ServicePortBuilder()
                .withName(name)
                .withPort(number)
                .withNewTargetPort(name)
                .withProtocol("TCP")
                .build();
    }
}
