// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Scene;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** Payloads through UCX between pods, by its tcp: there is no card here. */
@OnScene(namespace = UcxIT.NAMESPACE, pool = UcxIT.POOL, objects = UcxIT.OBJECTS)
@Order(4)
@TestInstance(Lifecycle.PER_CLASS)
class UcxIT {
    static final String NAMESPACE = "kvpool-e2e-ucx";
    static final String POOL = "wide";

    /** Of 64 KiB each. */
    static final int OBJECTS = 200;

    private static final long BYTES = OBJECTS * 65536L;

    private Scene scene;

    @BeforeAll
    void makePool(Cluster cluster, Operator operator, Scene scene) {
        this.scene = scene;
        cluster.kubectl().apply(NAMESPACE, """
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: cards}
                spec: {protocols: [ucx, tcp]}
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: %s}
                spec:
                  security: {mode: "Off"}
                  transferEngine: cards
                  masters: {replicas: 1}
                  storage: [{name: memory, capacity: 128Mi}]
                """.formatted(POOL));
        scene.pool().awaitReady();
    }

    @Test
    @DisplayName("where the transfer engine names ucx, values of clients in other pods travel through it, both ways")
    void valuesTravelThroughUcx() {
        scene.assertPut("wide");
        scene.assertReadBack("wide");

        // The first of a connection may leave before UCX has found its way, and then go by tcp.
        assertThat(movedByUcx("writeBytes")).as("bytes put through UCX").isGreaterThan(BYTES / 2);
        assertThat(movedByUcx("readBytes")).as("bytes read through UCX").isGreaterThan(BYTES / 2);
    }

    private long movedByUcx(String direction) {
        return scene.pool()
                .nodeDocument(scene.pool().storagePods().getFirst())
                .path("ucx")
                .path(direction)
                .longValue();
    }
}
