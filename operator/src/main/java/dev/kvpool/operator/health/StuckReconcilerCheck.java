// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.health;

import java.util.Optional;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;

/** Has Kubernetes restart the operator when its reconciliations do not move: nothing else ends a thread that hangs. */
public final class StuckReconcilerCheck implements HealthCheck {
    private static final String NAME = "reconciliations move";

    private final ReconciliationWatch watch;

    public StuckReconcilerCheck(ReconciliationWatch watch) {
        this.watch = watch;
    }

    @Override
    public HealthCheckResponse call() {
        Optional<String> trouble = watch.trouble();
        return trouble.isEmpty()
                ? HealthCheckResponse.up(NAME)
                : HealthCheckResponse.named(NAME)
                        .down()
                        .withData("trouble", trouble.get())
                        .build();
    }
}
