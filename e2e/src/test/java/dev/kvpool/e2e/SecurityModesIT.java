// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Pool;
import dev.kvpool.e2e.pool.Scene;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.Timeout;

/** A pool that holds values gets TLS and gives it up again while engines use it. Its bytes are in memory, so each step empties storage nodes. */
@OnScene(namespace = SecurityModesIT.NAMESPACE, pool = SecurityModesIT.POOL, objects = SecurityModesIT.OBJECTS)
@Order(9)
@Tag("long")
@TestInstance(Lifecycle.PER_CLASS)
class SecurityModesIT {
    static final String NAMESPACE = "kvpool-e2e-modes";
    static final String POOL = "modes";
    static final int OBJECTS = 100;
    private static final Duration LOAD = Duration.ofMinutes(30);

    private Cluster cluster;
    private Scene scene;
    private Pool pool;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.cluster = cluster;
        this.scene = scene;
        pool = scene.pool();
        setMode("Off");
        pool.awaitReady();
    }

    @Test
    @Timeout(value = 40, unit = TimeUnit.MINUTES)
    @DisplayName(
            "from Off to Required and back under load: nothing is lost, and without certificates no engine gets in while it is Required")
    void thereAndBack() {
        Clients plain = scene.clients().withoutCertificates();
        Clients secure = scene.clients();
        scene.assertPut(plain, "kept");
        Clients.Load load = plain.startLightLoad("off", LOAD);

        goTo("Permissive", "PlainPeersAdmitted");
        load.awaitNothingLost();
        load = secure.startLightLoad("permissive", LOAD);
        goTo("Required", "TlsRequired");
        assertThat(plain.attempt("get", "kept", OBJECTS).getLast()).startsWith("kvcheck: no connection");
        scene.assertReadBack(secure, "kept");
        goTo("Permissive", "PlainPeersAdmitted");
        load.awaitNothingLost();
        load = plain.startLightLoad("permissive again", LOAD);
        goTo("Off", null);
        load.awaitNothingLost();
        scene.assertReadBack(plain, "kept");
    }

    private void setMode(String mode) {
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  security: {mode: "%s"}
                  onDataLoss: Move
                  storage: [{name: default, replicas: 2, capacity: 256Mi}]
                """.formatted(POOL, mode));
    }

    /**
     * Until no pod of before is left and the operator has nothing more to do.
     *
     * @param reason of condition Secured; null: the pool has none
     */
    private void goTo(String mode, String reason) {
        Set<String> before = scene.podUids();
        setMode(mode);
        Wait.until("the pool is " + mode, Limits.ROLLOUT, () -> {
            KvCachePool resource = pool.resource();
            Optional<Condition> secured = resource.getStatus().conditions().stream()
                    .filter(condition -> condition.type().equals("Secured"))
                    .findFirst();
            assertThat(secured.map(Condition::reason)).isEqualTo(Optional.ofNullable(reason));
            assertThat(scene.podUids()).doesNotContainAnyElementsOf(before);
            assertThat(resource.getStatus().steps()).isEmpty();
            assertThat(resource.getStatus().phase()).isEqualTo(PoolPhase.READY);
        });
    }
}
