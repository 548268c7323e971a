// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Pool.Leader;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A pool that requires TLS, as pools do that say nothing else, with two tenants in namespaces of their own. */
@OnScene(namespace = SecuredPoolIT.NAMESPACE, pool = SecuredPoolIT.POOL, objects = SecuredPoolIT.OBJECTS)
@Order(5)
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

    /** Kubelets bring changed files within two minutes. */
    private static final Duration STEP = Duration.ofMinutes(12);

    private static final Duration LOAD = Duration.ofMinutes(40);

    private Cluster cluster;
    private Operator operator;
    private Scene scene;
    private Pool pool;
    private Clients one;
    private Clients two;
    private Clients ofNoTenant;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.operator = operator;
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
        copyIdentity(namespace);
        return scene.clients().ofTenant(namespace, ACCOUNT);
    }

    private void copyIdentity(String namespace) {
        cluster.kubectl()
                .apply(
                        namespace,
                        plugin("client-config", POOL, "--engines-namespace", namespace, "--service-account", ACCOUNT));
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

    /** What its certificate allows is not more with what another tenant was told. */
    @Test
    @Order(3)
    @DisplayName(
            "a grant and an extent of one tenant are worth nothing to an engine of the other, and to its own as much as before")
    void aStolenGrantIsRefused() {
        String told = one.speak("stolen_grant.py", "take").lines().toList().getLast();
        assertThat(two.speak("stolen_grant.py", "use", told)).isEqualTo("write KV_NOT_PERMITTED, read KV_NOT_FOUND");
        assertThat(one.speak("stolen_grant.py", "use", told)).isEqualTo("write KV_OK, read KV_OK");
        scene.assertReadBack(one, "one");
        scene.assertReadBack(two, "two");
    }

    @Test
    @Order(4)
    @DisplayName("kubectl kvpool asks secure masters as the pool's administrator")
    void thePluginAsksSecureMasters() {
        assertThat(plugin("status", POOL)).contains(POOL + "-default-1", "serving");
    }

    /** Times are short: clients get the next root by their ConfigMap within two minutes, and from masters at once then. */
    @Test
    @Order(5)
    @Tag("long")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    @ResourceLock(Operator.LOCK)
    @DisplayName("under load, while the operator is killed, the pool gets another certificate authority: no call fails,"
            + " no storage pod is made again, and what has the old root only is shut out in the end")
    void theAuthorityIsRotatedUnderLoad() {
        operator.install("authorities.clientWait=240s", "authorities.keepPrevious=240s");
        try {
            scene.assertPut(one, "kept");
            scene.assertPut(two, "kept");
            Map<String, String> storage = storagePods();
            Map<String, String> before = trust();
            Clients.Load load = one.startLoad("rotated", LOAD);
            plugin("rotate-ca", POOL);
            awaitTrust("the next authority is trusted", "kvpool.dev/ca-next-since", 2);
            kill(operator.leader());
            copyIdentity(ONE);
            awaitTrust("all masters sign with it", "kvpool.dev/ca-previous-since", 2);
            kill(operator.leader());
            copyIdentity(ONE);
            awaitTrust("the old one is forgotten", "kvpool.dev/ca", 1);
            pool.awaitReady();
            List<String> lines = load.awaitNothingLost();
            lines.forEach(line -> LOG.info("load during the rotation: {}", line));

            assertThat(trust().get("kvpool.dev/ca")).isNotEqualTo(before.get("kvpool.dev/ca"));
            assertThat(lines).anyMatch(line -> line.startsWith("0 puts failed"));
            assertThat(storagePods()).as("no storage pod was made again").isEqualTo(storage);
            Wait.until(
                    "the old key goes",
                    STEP,
                    () -> assertThat(cluster.client()
                                    .secrets()
                                    .inNamespace(NAMESPACE)
                                    .withName(POOL + "-ca-" + before.get("kvpool.dev/ca"))
                                    .get())
                            .isNull());
            scene.assertReadBack(one, "kept");
            assertThat(two.attempt("get", "kept", OBJECTS).getLast())
                    .as("tenant two has a copy of the old root")
                    .contains("no connection");
            copyIdentity(TWO);
            scene.assertReadBack(two, "kept");
        } finally {
            operator.install();
        }
    }

    /** Until it has this annotation, and what engines mount so many roots. */
    private void awaitTrust(String what, String annotation, int roots) {
        Wait.until(what, STEP, () -> {
            assertThat(trust()).containsKey(annotation);
            assertThat(cluster.client()
                            .configMaps()
                            .inNamespace(NAMESPACE)
                            .withName(POOL + "-identity")
                            .require()
                            .getData()
                            .get("ca.crt")
                            .split("-----BEGIN CERTIFICATE-----", -1))
                    .as("roots, and what stands before them")
                    .hasSize(roots + 1);
        });
    }

    private Map<String, String> trust() {
        return cluster.client()
                .configMaps()
                .inNamespace(NAMESPACE)
                .withName(POOL + "-trust")
                .require()
                .getMetadata()
                .getAnnotations();
    }

    private Map<String, String> storagePods() {
        return cluster
                .client()
                .pods()
                .inNamespace(NAMESPACE)
                .withLabel("kvpool.dev/role", "storage")
                .list()
                .getItems()
                .stream()
                .collect(Collectors.toMap(
                        pod -> pod.getMetadata().getName(),
                        pod -> pod.getMetadata().getUid()));
    }

    private void kill(String operatorPod) {
        cluster.client()
                .pods()
                .inNamespace(Operator.NAMESPACE)
                .withName(operatorPod)
                .withGracePeriod(0)
                .delete();
    }

    private String plugin(String... words) {
        return cluster.kubectl()
                .plugin(
                        cluster.settings().repository().resolve("dist/plugin/kubectl-kvpool"),
                        "kvpool",
                        NAMESPACE,
                        words)
                .orThrow();
    }
}
