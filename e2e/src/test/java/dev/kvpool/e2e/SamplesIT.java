// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.e2e.cluster.Cluster;
import dev.kvpool.e2e.cluster.OnCluster;
import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Samples;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** The samples are applied, not just shown. PoolIT runs the one of the demo; the others may need hardware to become ready. */
@OnCluster
@Order(2)
class SamplesIT {

    private static final String NAMESPACE = "kvpool-e2e-samples";

    private final Cluster cluster;

    SamplesIT(Cluster cluster) {
        this.cluster = cluster;
    }

    @AfterEach
    void removeNamespace() {
        cluster.deleteNamespace(NAMESPACE);
    }

    @Test
    @DisplayName("every sample is accepted, with each of its fields known to the API server")
    void samplesAreAccepted(Operator operator) {
        cluster.createNamespace(NAMESPACE, "restricted");

        assertThat(new Samples(cluster).files()).isNotEmpty().allSatisfy(this::assertAccepted);
    }

    private void assertAccepted(Path sample) {
        String printed =
                cluster.kubectl().run("apply", "--namespace", NAMESPACE, "--validate=strict", "-f", sample.toString());
        assertThat(printed)
                .as(sample.getFileName().toString())
                .contains("kvpool.dev/")
                .doesNotContain("configured");
    }
}
