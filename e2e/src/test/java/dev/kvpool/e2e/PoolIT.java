// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Kubectl;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Pool.Leader;
import dev.kvpool.e2e.pool.Restarts;
import dev.kvpool.e2e.pool.Samples;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** One pool, made from the sample that the README names, through its life and the deaths of its processes. */
@OnScene(namespace = PoolIT.NAMESPACE, pool = Samples.DEMO_POOL, objects = PoolIT.OBJECTS)
@Order(2)
@TestInstance(Lifecycle.PER_CLASS)
class PoolIT {

    static final String NAMESPACE = "kvpool-e2e-pool";
    static final int OBJECTS = 100;

    /** Longer than killing and taking over take on a slow machine, so that puts are tried before, during and after. */
    private static final Duration LOAD = Duration.ofSeconds(25);

    private Cluster cluster;
    private Operator operator;
    private Scene scene;
    private Pool pool;
    private Restarts restarts;

    @BeforeAll
    void applySample(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.operator = operator;
        this.scene = scene;
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
    @DisplayName(
            "the leading master is killed: another leads with a later epoch, all objects are there, puts work again")
    void leaderKilled() {
        scene.assertPut("before-leader-kill");
        Clients.Load load = scene.clients().startLoad("during-leader-kill", LOAD);
        Leader before = pool.leaseHolder();
        Pod victim = pod(before.pod());

        scene.killer().kill(victim);

        Leader after = pool.awaitLeaderAfter(before.epoch());
        assertThat(after.pod()).as("the standby took over").isNotEqualTo(before.pod());
        scene.assertReadBack("before-leader-kill");
        scene.assertPut("after-leader-kill");
        scene.assertReadBack("after-leader-kill");
        load.awaitNothingLost();
        restarts.awaitRestartOf(victim);
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
            JsonNode report = new ObjectMapper().readTree(pool.ask(leader.pod(), "api/v1/pool"));
            long objects = report.path("objects").asLong();
            assertThat(objects).isGreaterThanOrEqualTo(OBJECTS);
            assertThat(report.path("nodes"))
                    .hasSize(2)
                    .allSatisfy(node -> assertThat(node.path("objects").asLong())
                            .as(node.path("id").asText())
                            .isGreaterThanOrEqualTo(objects));
        });
        assertThat(pool.leaseHolder()).isEqualTo(leader);
        assertThat(restarts.byUid(pool.pods()))
                .as("pods of the pool, with restarts")
                .isEqualTo(before);
        scene.assertReadBack("before-two-copies");
    }

    private Pod pod(String name) {
        return cluster.client().pods().inNamespace(NAMESPACE).withName(name).require();
    }
}
