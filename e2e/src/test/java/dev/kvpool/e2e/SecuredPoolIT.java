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
import io.fabric8.kubernetes.api.model.Pod;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A pool that requires TLS, as pools do that say nothing else, with two tenants in namespaces of their own. */
@OnScene(namespace = SecuredPoolIT.NAMESPACE, pool = SecuredPoolIT.POOL, objects = SecuredPoolIT.OBJECTS)
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
    private static final String STRANGER = "stranger";
    private static final String ADMIN = "http://%s-leader.%s.svc:9003".formatted(POOL, NAMESPACE);
    private static final String SECURE_ADMIN = "https://%s-leader.%s.svc:9443".formatted(POOL, NAMESPACE);

    private static final String ALL_READ = "read back %1$d of %1$d objects".formatted(OBJECTS);
    private static final String NONE_READ = "read back 0 of %d objects".formatted(OBJECTS);
    private static final String ALL_PUT = "put %1$d of %1$d objects".formatted(OBJECTS);
    private static final String REFUSED = "no connection";

    private Cluster cluster;
    private Scene scene;
    private Pool pool;
    private Clients one;
    private Clients two;
    private Clients ofNoTenant;

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
                  tenants:
                    - {name: one, serviceAccounts: [{namespace: %s, name: %s}]}
                    - {name: two, serviceAccounts: [{namespace: %s, name: %s}]}
                  storage: [{name: default, replicas: 2, capacity: 256Mi}]
                """.formatted(POOL, ONE, ACCOUNT, TWO, ACCOUNT));
        pool.awaitReady();
        one = tenant(ONE);
        two = tenant(TWO);
        cluster.kubectl().run("create", "serviceaccount", STRANGER, "--namespace", ONE);
        ofNoTenant = scene.clients().ofTenant(ONE, STRANGER);
    }

    @AfterAll
    void removeTenants() {
        cluster.deleteNamespace(ONE);
        cluster.deleteNamespace(TWO);
    }

    /** As a tenant's administrator does it, by what the plugin prints. */
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
        return scene.clients().ofTenant(namespace, ACCOUNT);
    }

    @Test
    @Order(1)
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
    @Order(2)
    @DisplayName(
            "each tenant has its own objects; an account of no tenant gets none, and no engine gets an admin route")
    void whoGetsWhat() {
        Map<String, Clients> callers = new LinkedHashMap<>();
        callers.put("engine of tenant one", one);
        callers.put("engine of tenant two", two);
        callers.put("account of no tenant", ofNoTenant);
        callers.put("no certificate", scene.clients().withoutCertificates());
        Map<String, List<String>> got = new LinkedHashMap<>();
        callers.forEach((who, clients) -> got.put(
                who,
                List.of(
                        verdict(clients.attempt("get", "one", OBJECTS)),
                        verdict(clients.attempt("put", who, OBJECTS)),
                        status(clients.request("GET", SECURE_ADMIN + "/api/v1/pool")),
                        status(clients.request("POST", SECURE_ADMIN + "/api/v1/remove_all")),
                        status(clients.request("POST", ADMIN + "/api/v1/remove_all")),
                        status(clients.request("GET", ADMIN + "/healthz")))));
        got.forEach((who, what) -> LOG.info("{}: {}", who, what));

        assertThat(got)
                .containsExactly(
                        Map.entry("engine of tenant one", List.of(ALL_READ, ALL_PUT, "403", "403", "403", "200")),
                        Map.entry("engine of tenant two", List.of(NONE_READ, ALL_PUT, "403", "403", "403", "200")),
                        Map.entry("account of no tenant", List.of(REFUSED, REFUSED, "403", "403", "403", "200")),
                        Map.entry("no certificate", List.of(REFUSED, REFUSED, "401", "401", "403", "200")));
        scene.assertReadBack(one, "one");
    }

    private static String verdict(List<String> printed) {
        String last = printed.getLast();
        return last.startsWith("kvcheck: no connection") ? REFUSED : last;
    }

    private static String status(String answer) {
        return answer.substring(0, 3);
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
