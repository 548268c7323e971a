// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Clients;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Scene;
import java.time.Duration;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** A pool without storage nodes: what there is lies in the memory of the engines. */
@OnScene(namespace = EnginesOnlyIT.NAMESPACE, pool = EnginesOnlyIT.POOL, objects = 100)
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
class EnginesOnlyIT {
    static final String NAMESPACE = "kvpool-e2e-engines-only";
    static final String POOL = "engines";

    /** Longer than the status takes to count engines, and two masters to be killed and to come back. */
    private static final Duration LOAD = Duration.ofMinutes(5);

    private Scene scene;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.scene = scene;
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec: {storage: [], engineSegmentSize: 64Mi}
                """.formatted(POOL));
        scene.pool().awaitReady();
        scene.pool().awaitReason("NoEngineJoined");
    }

    @Test
    @DisplayName("two engines share their memory; all masters are killed under load, and nothing is lost")
    void mastersDieAndTheCacheStays() {
        Clients.Guest guest = scene.clients().startGuest("guest");
        Clients.Load load = scene.clients().startLoad("load", LOAD);
        Wait.until(
                "the status counts both engines",
                Limits.STATUS,
                () -> assertThat(scene.pool().resource().getStatus().storage().summary())
                        .isEqualTo("2 engines"));
        int epoch = scene.pool().leaseHolder().epoch();

        scene.pool().members().forEach(scene.killer()::kill);

        scene.pool().awaitLeaderAfter(epoch);
        load.awaitNothingLost();
        guest.leave();
    }
}
