// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.dataplane.secure.PoolSecurity;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Numbers for Prometheus that are read from one sample, so that all values of one scrape are of one moment; with those of the
 * process.
 *
 * @param <S> the sample
 */
public abstract class SampledMetrics<S> {
    /** For what is not of the sample. */
    protected final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);

    private final List<Function<S, String>> histograms = new ArrayList<>();

    private volatile Optional<S> current = Optional.empty();

    /** With nothing but the numbers of the process and of its certificates. */
    protected SampledMetrics(PoolSecurity security) {
        TlsMetrics.bindTo(registry, security);
        new JvmMemoryMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    /** The text for Prometheus; all single values of the sample are 0 when there is none. */
    public final synchronized String scrape(Optional<S> sample) {
        current = sample;
        StringBuilder text = new StringBuilder(registry.scrape());
        sample.ifPresent(numbers -> histograms.forEach(histogram -> text.append(histogram.apply(numbers))));
        return text.toString();
    }

    /** A value that goes up and down; the name is dotted. */
    protected final void gauge(String name, String help, ToDoubleFunction<S> value) {
        Gauge.builder(name, this, metrics -> metrics.read(value))
                .description(help)
                .register(registry);
    }

    /** The same, of several that differ in one label. */
    protected final void gauge(String name, String help, String label, String labelled, ToDoubleFunction<S> value) {
        Gauge.builder(name, this, metrics -> metrics.read(value))
                .description(help)
                .tag(label, labelled)
                .register(registry);
    }

    /** A value that only rises while the process lives; the name is dotted and without "total". */
    protected final void counter(String name, String help, ToDoubleFunction<S> value) {
        FunctionCounter.builder(name, this, metrics -> metrics.read(value))
                .description(help)
                .register(registry);
    }

    /** One of several that differ in a label. */
    protected final void counter(String name, String help, String label, String labelled, ToDoubleFunction<S> value) {
        FunctionCounter.builder(name, this, metrics -> metrics.read(value))
                .description(help)
                .tag(label, labelled)
                .register(registry);
    }

    /** Values that the sample has in buckets; the name is as Prometheus has it. Without a sample it is not there. */
    protected final void histogram(String name, String help, Function<S, Histogram> value) {
        histograms.add(sample -> value.apply(sample).text(name, help));
    }

    private double read(ToDoubleFunction<S> value) {
        return current.map(sample -> value.applyAsDouble(sample)).orElse(0.0);
    }
}
