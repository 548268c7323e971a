// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import dev.kvpool.dataplane.metrics.MetricsDocument;
import dev.kvpool.dataplane.secure.PoolSecurity;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which series an agent has. */
class AgentMetricsAreDocumentedTest {
    @Test
    void theDocumentIsCurrent() throws IOException {
        MetricsDocument.assertCurrent("agent", new AgentMetrics(PoolSecurity.off()).scrape(Optional.empty()));
    }
}
