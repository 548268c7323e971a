// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.Limits;
import dev.kvpool.e2e.cluster.Wait;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Scene;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

/** Manifests as Mooncake's guide has them, with another image: no operator, no custom resource. */
@OnScene(namespace = MooncakeManifestIT.NAMESPACE, pool = MooncakeManifestIT.NAME, objects = MooncakeManifestIT.OBJECTS)
@Order(2)
@TestInstance(Lifecycle.PER_CLASS)
class MooncakeManifestIT {
    static final String NAMESPACE = "kvpool-e2e-mooncake";

    /** Of the ConfigMap that tells clients where the master is. */
    static final String NAME = "mooncake";

    static final int OBJECTS = 100;

    private Cluster cluster;
    private Scene scene;

    @BeforeAll
    void apply(Cluster cluster, Scene scene) throws IOException {
        this.cluster = cluster;
        this.scene = scene;
        try (InputStream manifest = MooncakeManifestIT.class.getResourceAsStream("/mooncake.yaml")) {
            cluster.kubectl().apply(NAMESPACE, new String(manifest.readAllBytes(), StandardCharsets.UTF_8));
        }
        cluster.kubectl()
                .awaitCondition(NAMESPACE, "deployment/mooncake-master", "condition=Available", Limits.RESTART);
        cluster.kubectl().awaitCondition(NAMESPACE, "deployment/mooncake-store", "condition=Available", Limits.RESTART);
    }

    @Test
    @DisplayName("what was put through them is read back, also after the master's pod was replaced by another one")
    void serveAndOutliveTheirMaster() {
        scene.assertPut("before");
        scene.assertReadBack("before");

        cluster.kubectl().run("delete", "pod", "--namespace", NAMESPACE, "--selector", "app=mooncake-master");
        cluster.kubectl()
                .awaitCondition(NAMESPACE, "deployment/mooncake-master", "condition=Available", Limits.RESTART);

        // The store finds the other master by itself.
        Wait.until(
                "what was put is read back",
                Limits.TAKEOVER,
                () -> assertThat(scene.clients().getSome("before", OBJECTS))
                        .contains("read back %1$d of %1$d objects".formatted(OBJECTS)));
        scene.assertPut("after");
    }
}
