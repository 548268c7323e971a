// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.health;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetricsV2;
import io.javaoperatorsdk.operator.processing.Controller;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Counters of reconciliations are there before anything was counted. Prometheus sees no increase in a series that begins with its first
 * failure, so an alert about failures would miss the first ones.
 */
public final class CountersFromZero implements Metrics {
    private static final String CONTROLLER = "controller.name";

    private final MeterRegistry registry;

    public CountersFromZero(MeterRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void controllerRegistered(Controller<? extends HasMetadata> controller) {
        registered(controller.getConfiguration().getName());
    }

    void registered(String controller) {
        registry.counter(MicrometerMetricsV2.RECONCILIATIONS_FAILED, CONTROLLER, controller);
        registry.counter(MicrometerMetricsV2.RECONCILIATIONS_SUCCESS, CONTROLLER, controller);
    }
}
