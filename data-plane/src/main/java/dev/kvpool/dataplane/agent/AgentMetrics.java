// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import dev.kvpool.nativelib.AgentStats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** The agent's numbers for Prometheus; all values of one scrape are of one moment. */
final class AgentMetrics {
    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private volatile Optional<AgentStats> current = Optional.empty();

    AgentMetrics() {
        gauge("kvpool.agent.up", "1 while the agent serves its socket.", stats -> 1);
        gauge("kvpool.agent.leader.known", "1 while a leader serves it.", stats -> stats.leaderKnown() ? 1 : 0);
        gauge("kvpool.agent.epoch", "Leadership met last.", AgentStats::epoch);
        gauge("kvpool.agent.clients.connected", "Clients connected.", AgentStats::clients);
        gauge("kvpool.agent.staging.bytes", "Memory shared with clients.", AgentStats::stagingBytes);
        gauge("kvpool.agent.staging.max.bytes", "Bound of it.", AgentStats::stagingBytesMax);
        gauge("kvpool.agent.requests.running", "Requests being done.", AgentStats::running);
        counter("kvpool.agent.requests", "Requests taken.", AgentStats::requests);
        counter("kvpool.agent.lines", "Keys in them.", AgentStats::lines);
        counter("kvpool.agent.clients.refused", "Clients refused.", AgentStats::refusedClients);
        counter("kvpool.agent.protocol.errors", "Connections ended for wrong bytes.", AgentStats::protocolErrors);
        counter("kvpool.agent.put.bytes", "Payload bytes put.", AgentStats::putBytes);
        counter("kvpool.agent.get.bytes", "Payload bytes read.", AgentStats::getBytes);
        counter("kvpool.agent.hits", "Reads that found their object.", AgentStats::hits);
        counter("kvpool.agent.misses", "Reads that did not.", AgentStats::misses);
        counter("kvpool.agent.retries", "Steps done again.", AgentStats::retries);
        counter("kvpool.agent.checksum.failures", "Payloads with a wrong checksum.", AgentStats::checksumFailures);
        counter("kvpool.agent.leader.changes", "Leaders after the first.", AgentStats::leaderChanges);
        new JvmMemoryMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
    }

    /** The text for Prometheus; all 0 while the agent is not open. */
    synchronized String scrape(Optional<AgentStats> stats) {
        current = stats;
        return registry.scrape();
    }

    private void gauge(String name, String help, ToDoubleFunction<AgentStats> value) {
        Gauge.builder(name, this, metrics -> metrics.read(value))
                .description(help)
                .register(registry);
    }

    private void counter(String name, String help, ToDoubleFunction<AgentStats> value) {
        FunctionCounter.builder(name, this, metrics -> metrics.read(value))
                .description(help)
                .register(registry);
    }

    private double read(ToDoubleFunction<AgentStats> value) {
        return current.map(stats -> value.applyAsDouble(stats)).orElse(0.0);
    }
}
