// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.VersionStatus;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Admission;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import io.fabric8.kubernetes.api.model.Container;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool with the default volume, in the memory of its pods, goes over to other versions and back from a bad one. The versions
 * are builds with ranges of their own: 0.1.0 knows wire version and segment layout 1, 0.2.0 both 1 and 2, 0.4.0 only 2. Admission
 * rewrites the images of all pods and puts a sidecar into them.
 */
@OnScene(namespace = UpgradeIT.NAMESPACE, pool = UpgradeIT.POOL, objects = UpgradeIT.OBJECTS)
@Order(5)
@TestInstance(Lifecycle.PER_CLASS)
@TestMethodOrder(OrderAnnotation.class)
class UpgradeIT {
    private static final Logger LOG = LoggerFactory.getLogger(UpgradeIT.class);
    static final String NAMESPACE = "kvpool-e2e-upgrade";
    static final String POOL = "roll";
    static final int OBJECTS = 200;

    /** Longer than five containers take to start anew, one after the other, on a slow machine. */
    private static final Duration LOAD = Duration.ofSeconds(200);

    private Cluster cluster;
    private Operator operator;
    private Scene scene;
    private Pool pool;
    private Admission admission;
    private Clients.Guest oldClient;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.operator = operator;
        this.scene = scene;
        pool = scene.pool();
        admission = new Admission(
                cluster, NAMESPACE, List.of("kvpool:0.1.0", "kvpool:0.2.0", "kvpool:0.3.0", "kvpool:0.4.0"));
        pool.admittedAs(admission::rewritten);
        apply("0.1.0");
        pool.awaitReady();
        scene.assertPut("before");
        oldClient = scene.clients().startGuest("old-client");
        assertThat(pool.members())
                .allSatisfy(pod -> assertThat(pod.getSpec().getContainers())
                        .extracting(Container::getName)
                        .as("containers, the injected one first")
                        .startsWith("proxy")
                        .hasSize(2));
    }

    @AfterAll
    void removeAdmission() {
        if (admission != null) {
            admission.close();
        }
    }

    @Test
    @Order(1)
    @DisplayName("a version that has no wire version in common with the pool is refused, and nothing is restarted")
    void versionWithoutCommonWireIsRefused() {
        assertRefused("0.4.0", "kvpool 0.4.0 speaks wire version 2, but ", " speaks 1", "go by way of a version");
        backTo("0.1.0");
    }

    @Test
    @ResourceLock(Operator.LOCK)
    @Order(2)
    @DisplayName("an upgrade under load, its operator killed in the middle, loses no object and no pod")
    void upgradeUnderLoad() {
        Set<String> pods = scene.podUids();
        operator.forgetRestarts();
        Clients.Load load = scene.clients().startLoad("during", LOAD);

        apply("0.2.0");
        pool.awaitUpgradeStep();
        scene.killOperator(operator);
        pool.awaitVersion("0.2.0", "NoUpgrade");

        load.awaitNothingLost().forEach(line -> LOG.info("load during the upgrade: {}", line));
        scene.assertReadBack("before");
        assertThat(scene.podUids()).as("pods, by uid").isEqualTo(pods);
    }

    @Test
    @Order(3)
    @DisplayName(
            "a client that knows only wire version 1 keeps the pool from going over to 2, by name, and from a version without 1")
    void oldClientKeepsThePoolBack() {
        awaitActive(1, 2);
        Wait.until(
                "the condition says for whom the pool waits",
                Limits.STATUS,
                () -> assertThat(pool.upgradeCondition().message())
                        .contains("It would change to wire version 2, but clients of kvpool 0.1.0 know only 1"));

        assertRefused("0.4.0", "kvpool 0.4.0 speaks wire version 2, but client ", "upgrade these clients first");
        backTo("0.2.0");
    }

    @Test
    @Order(4)
    @DisplayName("when that client has gone the pool goes over, for good, and everything is still there")
    void poolGoesOver() {
        oldClient.leave();

        awaitActive(2, 2);
        Wait.until(
                "nobody keeps the pool back any more",
                Limits.STATUS,
                () -> assertThat(pool.upgradeCondition().message()).doesNotContain("It would change"));
        scene.assertReadBack(newClients(), "before");
        assertRefused("0.1.0", "kvpool 0.1.0 speaks wire version 1, but the pool speaks 2");
        backTo("0.2.0");
    }

    @Test
    @ResourceLock(Operator.LOCK)
    @Order(5)
    @DisplayName(
            "an upgrade to an image that does not start goes back under load, though the operator is killed, and everything is still there")
    void badUpgradeGoesBack() {
        Set<String> pods = scene.podUids();
        operator.forgetRestarts();
        Clients.Load load = newClients().startLoad("failing", LOAD);

        apply("0.3.0");
        pool.awaitUpgradeStep();
        scene.killOperator(operator);
        pool.awaitVersion("0.2.0", "UpgradeFailed");

        Condition why = pool.upgradeCondition();
        assertThat(why.message()).contains("kvpool:0.2.0", "kvpool:0.3.0", "did not get ready within 30s");
        load.awaitNothingLost().forEach(line -> LOG.info("load during the upgrade that fails: {}", line));
        scene.assertReadBack(newClients(), "before");
        assertThat(scene.podUids()).as("pods, by uid").isEqualTo(pods);
        backTo("0.2.0");
    }

    @Test
    @Order(6)
    @DisplayName("now the version that knows only 2 is taken, and reads what was written in layout 1 and 2")
    void versionOfTheNewWireIsTaken() {
        Set<String> pods = scene.podUids();
        assertThat(newClients().put("between", OBJECTS)).contains("put %d of %d objects".formatted(OBJECTS, OBJECTS));

        apply("0.4.0");
        pool.awaitVersion("0.4.0", "NoUpgrade");

        awaitActive(2, 2);
        scene.assertReadBack(newClients(), "before");
        scene.assertReadBack(newClients(), "between");
        assertThat(scene.podUids()).as("pods, by uid").isEqualTo(pods);
    }

    /** They know both wire versions; those that the scene has know 1 alone. */
    private Clients newClients() {
        return scene.clients().ofVersion("0.2.0");
    }

    private void assertRefused(String version, String... sentences) {
        Map<String, Integer> restarts = scene.restarts().byUid(pool.members());
        apply(version);
        Wait.until("version " + version + " is refused", Limits.RESTART, () -> {
            // Of one moment: who connects or leaves meanwhile has it checked once more.
            Condition seen = pool.upgradeCondition();
            assertThat(seen.reason()).isEqualTo("VersionRefused");
            assertThat(seen.message()).contains(sentences);
        });
        assertThat(scene.restarts().byUid(pool.members()))
                .as("restarts, by uid")
                .isEqualTo(restarts);
    }

    /** Asks for what runs anyway. */
    private void backTo(String version) {
        apply(version);
        pool.awaitVersion(version, "NoUpgrade");
    }

    /** An operator that another scenario has just killed begins to count once more how long versions have been settled. */
    private void awaitActive(int wire, int layout) {
        Wait.until(
                "the pool speaks wire version %d and writes layout %d".formatted(wire, layout), Limits.RESTART, () -> {
                    VersionStatus version = pool.resource().getStatus().version();
                    assertThat(version.activeWire()).isEqualTo(wire);
                    assertThat(version.activeLayout()).isEqualTo(layout);
                });
    }

    private void apply(String version) {
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  version: %s
                  upgrade: {stepTimeout: 30s, finaliseAfter: 15s}
                  storage: [{name: default, replicas: 3, capacity: 128Mi}]
                """.formatted(POOL, version));
    }
}
