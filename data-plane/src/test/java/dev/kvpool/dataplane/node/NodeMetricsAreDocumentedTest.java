// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.dataplane.metrics.MetricsDocument;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which series a storage node has. */
class NodeMetricsAreDocumentedTest {
    @Test
    void theDocumentIsCurrent() throws IOException {
        MetricsDocument.assertCurrent("node", new NodeMetrics().scrape(Optional.empty()));
    }
}
