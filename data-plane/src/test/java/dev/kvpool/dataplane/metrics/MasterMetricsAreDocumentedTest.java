// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.secure.PoolSecurity;
import java.io.IOException;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which series a master has. */
class MasterMetricsAreDocumentedTest {
    @Test
    void theDocumentIsCurrent() throws IOException {
        MasterCore core = new MasterCore(
                PlainSettings.of("m", 10_000, 0.9, 0.8, 1, 30_000, 1 << 28), Set.of(), new Random(1), new Random(1));

        MetricsDocument.assertCurrent(
                "master",
                new MasterMetrics(
                                core::status, new NoConnections(), new NoEvents(), PoolSecurity.off(), () -> 0, () -> 0)
                        .scrape());
    }
}
