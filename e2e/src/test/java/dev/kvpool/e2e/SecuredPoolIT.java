// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Command;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Pool.Leader;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A pool that requires TLS, with two tenants in namespaces of their own. */
@OnScene(namespace = SecuredPoolIT.NAMESPACE, pool = SecuredPoolIT.POOL, objects = SecuredPoolIT.OBJECTS)
@Tag("long")
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SecuredPoolIT {
    private static final Logger LOG = LoggerFactory.getLogger(SecuredPoolIT.class);
    static final String NAMESPACE = "kvpool-e2e-secured";
    static final String POOL = "secured";
    static final int OBJECTS = 50;
    private static final String ONE = "kvpool-e2e-secured-one";
    private static final String TWO = "kvpool-e2e-secured-two";
    private static final String ACCOUNT = "engine";
    private static final String ADMIN = "http://%s-leader.%s.svc:9003".formatted(POOL, NAMESPACE);

    private Cluster cluster;
    private Scene scene;
    private Pool pool;
    private Clients one;
    private Clients two;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.scene = scene;
        pool = scene.pool();
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  security: {mode: Required}
                  tenants:
                    - {name: one, serviceAccounts: [{namespace: %s, name: %s}]}
                    - {name: two, serviceAccounts: [{namespace: %s, name: %s}]}
                  storage: [{name: default, replicas: 2, capacity: 256Mi}]
                """.formatted(POOL, ONE, ACCOUNT, TWO, ACCOUNT));
        pool.awaitReady();
        one = tenant(ONE);
        two = tenant(TWO);
    }

    @AfterAll
    void removeTenants() {
        cluster.deleteNamespace(ONE);
        cluster.deleteNamespace(TWO);
    }

    /** As a tenant's administrator does it: what the plugin prints, and the ConfigMap of the pool. */
    private Clients tenant(String namespace) {
        cluster.createNamespace(namespace, "restricted");
        cluster.kubectl().run("create", "serviceaccount", ACCOUNT, "--namespace", namespace);
        Command.Result printed = cluster.kubectl()
                .plugin(
                        cluster.settings().repository().resolve("dist/plugin/kubectl-kvpool"),
                        "kvpool",
                        NAMESPACE,
                        "client-config",
                        POOL,
                        "--engines-namespace",
                        namespace,
                        "--service-account",
                        ACCOUNT);
        cluster.kubectl().apply(namespace, printed.orThrow());
        var shared = cluster.client()
                .configMaps()
                .inNamespace(NAMESPACE)
                .withName(POOL + "-client")
                .require();
        cluster.client()
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName(POOL + "-client")
                        .withNamespace(namespace)
                        .endMetadata()
                        .withData(shared.getData())
                        .build())
                .create();
        String poolId = shared.getMetadata().getAnnotations().get("kvpool.dev/pool-id");
        return scene.clients().ofTenant(namespace, ACCOUNT, "kvpool.dev/" + poolId);
    }

    @Test
    @Order(1)
    @DisplayName(
            "a pod without a certificate gets nothing from data ports, and may ask masters for health and metrics only")
    void strangersGetNothing() {
        assertThat(scene.clients().getSome("one", OBJECTS)).noneMatch(line -> line.contains("read back"));
        assertThat(scene.clients().request("POST", ADMIN + "/api/v1/remove_all"))
                .startsWith("403");
        assertThat(scene.clients().request("GET", ADMIN + "/api/v1/pool")).startsWith("403");
        assertThat(scene.clients().request("GET", ADMIN + "/healthz")).startsWith("200");
    }

    @Test
    @Order(2)
    @DisplayName("engines of both tenants put and read back; a leader is killed, and all of it is still there")
    void tenantsUseThePoolAlsoAfterATakeover() {
        scene.assertPut(one, "one");
        scene.assertPut(two, "two");
        scene.assertReadBack(one, "one");
        scene.assertReadBack(two, "two");

        Leader before = pool.leaseHolder();
        Pod victim = cluster.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withName(before.pod())
                .require();
        scene.killer().kill(victim);
        Leader after = pool.awaitLeaderAfter(before.epoch());
        LOG.info("{} follows {}", after, before);
        scene.restarts().awaitRestartOf(victim);
        pool.awaitReady();

        scene.assertReadBack(one, "one");
        scene.assertReadBack(two, "two");
    }

    @Test
    @Order(3)
    @DisplayName("kubectl kvpool asks secure masters as the pool's administrator")
    void thePluginAsksSecureMasters() {
        Command.Result status = cluster.kubectl()
                .plugin(
                        cluster.settings().repository().resolve("dist/plugin/kubectl-kvpool"),
                        "kvpool",
                        NAMESPACE,
                        "status",
                        POOL);
        assertThat(status.orThrow()).contains(POOL + "-default-1", "serving");
    }
}
