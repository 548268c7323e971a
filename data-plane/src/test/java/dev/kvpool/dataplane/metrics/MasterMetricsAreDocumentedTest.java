// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.CoreSettings;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import java.io.IOException;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which series a master has. */
class MasterMetricsAreDocumentedTest {
    private static final ConnectionNumbers NONE = new ConnectionNumbers() {
        @Override
        public long refused(RefusalCode code) {
            return 0;
        }

        @Override
        public long malformed() {
            return 0;
        }

        @Override
        public long overflowed() {
            return 0;
        }

        @Override
        public long plain(Role role) {
            return 0;
        }
    };

    @Test
    void theDocumentIsCurrent() throws IOException {
        MasterCore core = new MasterCore(
                new CoreSettings("m", 10_000, 0.9, 0.8, 1, 5_000, 30_000, 1 << 28),
                Set.of(),
                new Random(1),
                new Random(1));

        MetricsDocument.assertCurrent(
                "master",
                new MasterMetrics(core::status, NONE, new NoEvents(), PoolSecurity.off(), () -> 0, () -> 0).scrape());
    }
}
