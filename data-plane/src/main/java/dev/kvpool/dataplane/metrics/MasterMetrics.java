// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.DrainStatus;
import dev.kvpool.dataplane.master.core.count.BucketCounts;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/** Shows a master's status as metrics; the core counts, this only names. */
public final class MasterMetrics extends SampledMetrics<PoolStatus> {
    private final Supplier<PoolStatus> status;

    /** The registry would let it go. */
    private final LongSupplier auditLinesDropped;

    public MasterMetrics(
            Supplier<PoolStatus> status,
            ConnectionNumbers connections,
            EventNumbers events,
            PoolSecurity security,
            LongSupplier auditLinesDropped,
            LongSupplier clockMs) {
        super(security);
        this.status = status;
        this.auditLinesDropped = auditLinesDropped;
        gauge(
                "kvpool.master.leader",
                "1 while this master leads and serves",
                it -> it.isLeader(clockMs.getAsLong()) ? 1 : 0);
        gauge("kvpool.master.epoch", "Epoch of the current leadership, 0 on a standby", PoolStatus::epoch);
        gauge(
                "kvpool.master.ready",
                "1 when caught up with every connected node",
                it -> it.notReady().isEmpty() ? 1 : 0);
        gauge("kvpool.master.nodes.expected", "Expected storage nodes", PoolStatus::expectedNodes);
        gauge("kvpool.master.nodes.ready", "Expected storage nodes that are ready", PoolStatus::readyNodes);
        gauge(
                "kvpool.master.nodes.set.apart",
                "Storage nodes excluded because their reports could not be processed",
                PoolStatus::nodesSetApart);
        gauge(
                "kvpool.master.index.bytes",
                "Bytes of the records of the index",
                it -> it.index().usedBytes());
        gauge(
                "kvpool.master.index.max.bytes",
                "Largest size of the index records; at 95 % of it puts are refused",
                it -> it.index().maxBytes());
        gauge(
                "kvpool.master.objects.unavailable",
                "Objects whose nodes are all unavailable",
                PoolStatus::unavailableObjects);
        gauge(
                "kvpool.master.tombstones",
                "Removed keys that are remembered for nodes that missed the removal",
                PoolStatus::tombstones);
        gauge(
                "kvpool.master.objects.under.replicated",
                "Objects with fewer copies on ready nodes than wanted",
                PoolStatus::underReplicatedObjects);
        gauge(
                "kvpool.master.objects.over.replicated",
                "Objects with more copies on ready nodes than wanted",
                PoolStatus::overReplicatedObjects);
        gauge("kvpool.master.copies.under.way", "Copies from node to node in progress", PoolStatus::copiesUnderWay);
        gauge("kvpool.master.copies.under.way.bytes", "Bytes of these copies", PoolStatus::copyBytesUnderWay);
        gauge("kvpool.master.drains.active", "Nodes being drained", it -> drains(it, DrainStatus.State.DRAINING));
        gauge(
                "kvpool.master.drains.timed.out",
                "Nodes whose drain timed out before they were empty",
                it -> drains(it, DrainStatus.State.TIMED_OUT));
        gauge("kvpool.master.grants.under.way", "Puts granted and not yet published", PoolStatus::grantsUnderWay);
        gauge(
                "kvpool.master.takeover.duration.seconds",
                "Time from acquiring the Lease to serving, at the last takeover",
                it -> it.lastTakeoverMs() / 1000.0);
        gauge(
                "kvpool.master.lease.recovery.seconds",
                "Time until objects found by the last takeover may be evicted, 0 afterwards",
                it -> Math.max(0, it.recoveredUntilMs() - Math.min(it.recoveredUntilMs(), clockMs.getAsLong()))
                        / 1000.0);
        for (Count count : Count.values()) {
            counter(count);
        }
        histogram(
                "kvpool_master_evicted_age_seconds",
                "Time since the last use of objects that were evicted",
                it -> inSeconds(it.counters().ages()));
        connections(connections);
        events(events);
        TlsMetrics.handshakes(registry, security.counts());
        FunctionCounter.builder("kvpool.audit.lines.dropped", this.auditLinesDropped, LongSupplier::getAsLong)
                .description("Lines of the audit log that were not written, because too many came in a second")
                .register(registry);
    }

    private static long drains(PoolStatus status, DrainStatus.State state) {
        return status.drains().stream().filter(drain -> drain.state() == state).count();
    }

    /** The text for Prometheus. */
    public String scrape() {
        PoolStatus now = status.get();
        return scrape(Optional.of(now))
                + DrainLeftovers.of(now.drains())
                + TenantSeries.of(now.tenants(), now.quotas())
                + MooncakeMetrics.of(now);
    }

    private static Histogram inSeconds(BucketCounts ofMs) {
        List<String> bounds =
                ofMs.bounds().stream().map(ms -> Long.toString(ms / 1000)).toList();
        return new Histogram(bounds, ofMs.counts(), ofMs.sum() / 1000.0);
    }

    private void counter(Count count) {
        String name = "kvpool.master." + count.metric().replace('_', '.');
        ToDoubleFunction<PoolStatus> value = it -> it.counters().get(count);
        if (count.reason().isEmpty()) {
            counter(name, count.help(), value);
        } else {
            counter(name, count.help(), "reason", count.reason(), value);
        }
    }

    private void events(EventNumbers events) {
        Gauge.builder("kvpool.master.events.subscribers", events, EventNumbers::subscribers)
                .description("Subscribers of /api/v1/events connected")
                .register(registry);
        FunctionCounter.builder("kvpool.master.events.snapshots", events, EventNumbers::snapshots)
                .description("Snapshots sent to subscribers of /api/v1/events")
                .register(registry);
        FunctionCounter.builder("kvpool.master.events.cut", events, EventNumbers::cut)
                .description("Subscribers of /api/v1/events cut off because they read too slowly")
                .register(registry);
    }

    private void connections(ConnectionNumbers connections) {
        for (RefusalCode code : RefusalCode.values()) {
            if (code != RefusalCode.NULL_VAL) {
                FunctionCounter.builder("kvpool.master.connections.refused", connections, it -> it.refused(code))
                        .tag("reason", code.name().toLowerCase(Locale.ROOT))
                        .description("Connections refused during the handshake")
                        .register(registry);
            }
        }
        FunctionCounter.builder("kvpool.master.protocol.errors", connections, ConnectionNumbers::malformed)
                .description("Connections closed because of invalid messages")
                .register(registry);
        FunctionCounter.builder("kvpool.master.connections.overflowed", connections, ConnectionNumbers::overflowed)
                .description("Connections closed because the peer did not read")
                .register(registry);
        for (Role role : List.of(Role.NODE, Role.CLIENT)) {
            Gauge.builder("kvpool.plaintext.connections", connections, it -> it.plain(role))
                    .tag("peer", role.name().toLowerCase(Locale.ROOT))
                    .description("Connections of peers that speak without TLS; with --tls required they are refused")
                    .register(registry);
        }
    }
}
