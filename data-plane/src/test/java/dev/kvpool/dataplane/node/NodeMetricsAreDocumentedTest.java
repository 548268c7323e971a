// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.dataplane.metrics.MetricsDocument;
import dev.kvpool.dataplane.node.ReadinessTest.SomeStats;
import dev.kvpool.dataplane.secure.PoolSecurity;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which series a storage node has. */
class NodeMetricsAreDocumentedTest {
    @Test
    void theDocumentIsCurrent() throws IOException {
        NodeMetrics metrics = new NodeMetrics(PoolSecurity.off());
        MetricsDocument.assertCurrent("node", metrics.scrape(Optional.of(SomeStats.withMasters(1, 2))));
    }
}
