// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Kubectl;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.monitoring.Prometheus;
import dev.kvpool.e2e.monitoring.Queries;
import dev.kvpool.e2e.monitoring.Scrapes;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Pool.Leader;
import dev.kvpool.e2e.pool.Restarts;
import dev.kvpool.e2e.pool.Samples;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** One pool, made from the sample that the README names, through its life and the deaths of its processes; FailoverIT is about its leader. */
@OnScene(namespace = PoolIT.NAMESPACE, pool = Samples.DEMO_POOL, objects = PoolIT.OBJECTS)
@Order(2)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
class PoolIT {

    static final String NAMESPACE = "kvpool-e2e-pool";
    static final int OBJECTS = 100;

    /** Traces of what happened, kept for a while by the API server itself. */
    private static final Set<String> NOT_COUNTED = Set.of("events", "events.events.k8s.io");

    private Cluster cluster;
    private Operator operator;
    private Scene scene;
    private Pool pool;
    private Restarts restarts;
    private Set<String> withoutPool;

    @BeforeAll
    void applySample(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.operator = operator;
        this.scene = scene;
        withoutPool = inventory();
        pool = new Samples(cluster).applyDemo(NAMESPACE);
        restarts = scene.restarts();
        pool.awaitReady();
    }

    /** Each scenario starts with a whole pool, whatever the one before it killed. */
    @BeforeEach
    void poolIsWhole() {
        pool.awaitReady();
    }

    @Test
    @DisplayName("kubectl get kvp shows a Ready pool with its storage, leader, capacity, use and version")
    void kubectlShowsThePool() {
        List<List<String>> table = Kubectl.rows(cluster.kubectl().run("get", "kvp", pool.name(), "-n", NAMESPACE));

        assertThat(table.getFirst())
                .containsExactly("NAME", "PHASE", "STORAGE", "LEADER", "CAPACITY", "USED", "VERSION", "AGE");
        List<String> row = table.get(1);
        assertThat(row.subList(0, 4))
                .containsExactly(pool.name(), "Ready", "2/2", pool.leaseHolder().pod());
        // The segments' directories take a little of the two times 256Mi.
        assertThat(Quantity.getAmountInBytes(Quantity.parse(row.get(4))))
                .as("capacity")
                .isBetween(new BigDecimal(450 << 20), new BigDecimal(512 << 20));
        assertThat(row.get(5)).as("used").matches("[0-9]+([KMG]i)?");
        assertThat(row.get(6)).as("version").isEqualTo("0.1.0");
    }

    @Test
    @DisplayName("a client in one pod reads what a client in another pod wrote")
    void onePodReadsWhatAnotherWrote() {
        scene.assertPut("cross-pod");
        scene.assertReadBack("cross-pod");
    }

    @Test
    @DisplayName("the container of a storage node is killed: it comes back in the same pod with all its objects")
    void storageContainerKilled() {
        scene.assertPut("before-storage-kill");
        Pod victim = pool.storagePods().getFirst();

        scene.killer().kill(victim);

        restarts.awaitRestartOf(victim);
        pool.awaitReady();
        scene.assertReadBack("before-storage-kill");
        scene.assertPut("after-storage-kill");
    }

    @Test
    @ResourceLock(Operator.LOCK)
    @DisplayName("the operator is killed: it comes back and follows the pool, of which no pod restarts")
    void operatorKilled() {
        Map<String, Integer> before = restarts.byUid(pool.pods());
        Pod victim = operator.pods().getFirst();

        scene.killer().kill(victim);

        restarts.awaitRestartOf(victim);
        // Proof that it works again, and has looked at its pools, before the pool's pods are compared.
        pool.awaitReconciledAgain();
        assertThat(restarts.byUid(pool.pods()))
                .as("pods of the pool, with restarts")
                .isEqualTo(before);
        scene.assertPut("after-operator-kill");
        scene.assertReadBack("after-operator-kill");
    }

    @Test
    @DisplayName(
            "another number of copies is asked for: masters follow as they run, what is there is copied, nothing restarts")
    void rulesOfTheCacheChangeInARunningPool() {
        scene.assertPut("before-two-copies");
        Map<String, Integer> before = restarts.byUid(pool.pods());
        Leader leader = pool.leaseHolder();

        cluster.kubectl()
                .run(
                        "patch",
                        "kvp",
                        pool.name(),
                        "-n",
                        NAMESPACE,
                        "--type=merge",
                        "-p",
                        "{\"spec\": {\"cache\": {\"replicas\": 2}}}");

        pool.awaitReady();
        Wait.until("each storage node has every object", Limits.POOL_READY, () -> {
            double objects = pool.metric(leader.pod(), "master_key_count");
            assertThat(objects).isGreaterThanOrEqualTo(OBJECTS);
            assertThat(names(pool.storagePods()))
                    .hasSize(2)
                    .allSatisfy(node ->
                            assertThat(pool.metric(node, "kvpool_node_objects")).isGreaterThanOrEqualTo(objects));
        });
        assertThat(pool.leaseHolder()).isEqualTo(leader);
        assertThat(restarts.byUid(pool.pods()))
                .as("pods of the pool, with restarts")
                .isEqualTo(before);
        scene.assertReadBack("before-two-copies");
    }

    @Test
    @DisplayName(
            "a Prometheus with the chart's monitors scrapes operator, masters and storage nodes, and evaluates the chart's rules and dashboard:"
                    + " every series they name is there, and nothing is alarming")
    void aPrometheusFollowsThePool(@TempDir Path folder) throws IOException {
        JsonNode rule = rendered("alerts", "alerts.enabled=true").getFirst();
        Scrapes scrapes = new Scrapes(cluster, folder);
        rendered("monitors", "monitors.enabled=true").forEach(scrapes::add);
        scrapes.write(rule);
        Queries queries = Queries.of(
                rule,
                cluster.settings().repository().resolve("helm/kvpool/monitoring/pools.json"),
                NAMESPACE,
                pool.name());
        try (Prometheus prometheus = Prometheus.start(cluster.settings().prometheus(), folder)) {
            Wait.until(
                    "every process is scraped",
                    Limits.STATUS,
                    () -> assertThat(scraped(prometheus))
                            .containsAll(names(pool.members()))
                            .containsAll(names(operator.pods())));
            Wait.until(
                    "every series is there that rules and dashboard name",
                    Limits.STATUS,
                    () -> assertThat(prometheus.ask("api/v1/label/__name__/values", Map.of()))
                            .extracting(JsonNode::asText)
                            .containsAll(queries.series()));
            Wait.until(
                    "every rule was evaluated",
                    Limits.STATUS,
                    () -> assertThat(prometheus.ask("api/v1/rules", Map.of()).findPath("rules"))
                            .hasSameSizeAs(rule.findPath("rules"))
                            .allSatisfy(evaluated -> assertThat(
                                            evaluated.path("health").asText())
                                    .as(evaluated.toPrettyString())
                                    .isEqualTo("ok")));
            Wait.until(
                    "every panel of the dashboard shows something",
                    Limits.STATUS,
                    () -> assertThat(queries.ofDashboard())
                            .allSatisfy(query -> assertThat(prometheus
                                            .ask("api/v1/query", Map.of("query", query))
                                            .path("result"))
                                    .as(query)
                                    .isNotEmpty()));
            assertThat(prometheus.ask("api/v1/alerts", Map.of()).path("alerts"))
                    .filteredOn(alert -> alert.path("state").asText().equals("firing"))
                    .filteredOn(alert ->
                            alert.path("labels").path("namespace").asText().equals(NAMESPACE))
                    .isEmpty();
        }
    }

    private List<JsonNode> rendered(String template, String value) throws IOException {
        String yaml = operator.helm().template(Operator.RELEASE, Operator.NAMESPACE, template, value);
        try (MappingIterator<JsonNode> documents =
                new YAMLMapper().readerFor(JsonNode.class).readValues(yaml)) {
            return documents.readAll();
        }
    }

    /** Names of pods that answered. */
    private static List<String> scraped(Prometheus prometheus) {
        List<String> pods = new ArrayList<>();
        for (JsonNode target : prometheus.ask("api/v1/targets", Map.of()).path("activeTargets")) {
            if (target.path("health").asText().equals("up")) {
                pods.add(target.path("labels").path("pod").asText());
            }
        }
        return pods;
    }

    private static List<String> names(List<Pod> pods) {
        return pods.stream().map(pod -> pod.getMetadata().getName()).toList();
    }

    /** With the default deletion policy. */
    @Test
    @Order(Integer.MAX_VALUE)
    @DisplayName("nothing of a deleted pool remains: no pod, Lease, role, Service, ConfigMap or anything else")
    void nothingRemainsOfADeletedPool() {
        assertThat(inventory()).contains("lease.coordination.k8s.io/" + pool.name() + "-master");

        new Samples(cluster).deleteDemo(NAMESPACE);

        Wait.until(
                "nothing of the pool remains",
                Limits.GONE,
                () -> assertThat(inventory()).isEqualTo(withoutPool));
    }

    /** Every object of the namespace, of all kinds that can be listed, as KIND/NAME. */
    private Set<String> inventory() {
        String kinds = cluster.kubectl()
                .run("api-resources", "--namespaced", "--verbs=list", "--output=name")
                .lines()
                .filter(kind -> !NOT_COUNTED.contains(kind))
                .collect(Collectors.joining(","));
        return cluster.kubectl()
                .run("get", kinds, "--namespace", NAMESPACE, "--output=name", "--ignore-not-found")
                .lines()
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
