// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.health;

import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.javaoperatorsdk.operator.api.config.InformerStoppedHandler;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.jboss.logging.Logger;

/**
 * Has Kubernetes restart the operator when one of its watches has ended for good, as one does that gets what it cannot read:
 * from then on the operator would decide by what it saw before. Lost connections are no reason, the client opens those again.
 */
public final class LostWatchCheck implements HealthCheck, InformerStoppedHandler {
    private static final Logger LOG = Logger.getLogger(LostWatchCheck.class);
    private static final String NAME = "watches go on";

    private final AtomicReference<String> lost = new AtomicReference<>();

    @Override
    @SuppressWarnings("rawtypes") // as the SDK has it
    public void onStop(SharedIndexInformer informer, Throwable failure) {
        if (failure == null) {
            return; // the operator stops
        }
        String kind = informer.getApiTypeClass().getSimpleName();
        LOG.errorf(failure, "The watch of %s has ended and is not reopened; the operator must be restarted", kind);
        lost.compareAndSet(
                null, "The watch of %s has ended and is not reopened: %s".formatted(kind, failure.getMessage()));
    }

    @Override
    public HealthCheckResponse call() {
        return Optional.ofNullable(lost.get())
                .map(trouble -> HealthCheckResponse.named(NAME)
                        .down()
                        .withData("trouble", trouble)
                        .build())
                .orElseGet(() -> HealthCheckResponse.up(NAME));
    }
}
