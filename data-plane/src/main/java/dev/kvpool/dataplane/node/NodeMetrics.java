// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import static dev.kvpool.nativelib.NativeStats.node;

import dev.kvpool.dataplane.metrics.Histogram;
import dev.kvpool.dataplane.metrics.SampledMetrics;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.nativelib.NativeStats;
import dev.kvpool.nativelib.Protocol;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** The node's numbers for Prometheus. */
final class NodeMetrics extends SampledMetrics<NativeStats> {
    private static final List<String> BUCKETS = List.of("in_100us", "in_1ms", "in_10ms", "in_100ms", "in_1s", "longer");

    NodeMetrics(PoolSecurity security) {
        super(security);
        gauge("kvpool.node.up", "1 while the segment is open.", stats -> 1);
        gauge("kvpool.node.capacity.bytes", "Bytes objects can use.", node("capacity_bytes"));
        gauge("kvpool.node.used.bytes", "Bytes allocated, committed or being written.", node("used_bytes"));
        gauge("kvpool.node.objects", "Committed objects.", node("objects"));
        gauge("kvpool.node.epoch", "Highest epoch accepted.", node("epoch"));
        gauge("kvpool.node.fenced", "1 when the leader of that epoch is connected.", node("fenced"));
        gauge("kvpool.node.masters.connected", "Masters connected.", node("masters_connected"));
        gauge("kvpool.node.masters.configured", "Masters configured.", node("masters_total"));
        gauge("kvpool.node.clients.connected", "Client connections.", node("clients_connected"));
        gauge("kvpool.node.restored.objects", "Objects found at start.", node("restored_objects"));
        gauge(
                "kvpool.node.dropped.records",
                "Records found at start that were damaged or of an unknown epoch.",
                node("dropped_records"));
        String aside = "Files found at start that it could not use and set aside.";
        gauge("kvpool.node.files.set.aside", aside, "reason", "damaged", node("damaged_files_set_aside"));
        gauge("kvpool.node.files.set.aside", aside, "reason", "foreign", node("foreign_files_set_aside"));
        gauge("kvpool.node.set.aside.bytes", "Bytes of files set aside.", node("set_aside_bytes"));
        gauge(
                "kvpool.node.replaced.layout",
                "Layout of the empty segment that this start replaced; 0 if it replaced none.",
                node("replaced_layout"));
        gauge("kvpool.node.tombstones", "Removed keys that are remembered.", node("tombstones"));
        gauge("kvpool.node.scrub.rounds", "Complete rounds of the scrubber.", node("scrub_rounds"));
        gauge("kvpool.node.prefault.bytes", "Bytes of the segment to be prefaulted.", node("prefault_bytes"));
        gauge("kvpool.node.prefaulted.bytes", "Bytes of the segment prefaulted so far.", node("prefaulted_bytes"));
        for (Protocol protocol : Protocol.values()) {
            gauge(
                    "kvpool.node.serves." + protocol.name().toLowerCase(Locale.ROOT),
                    "1 when clients may use this protocol.",
                    stats -> stats.protocols().contains(protocol) ? 1 : 0);
        }
        gauge("kvpool.node.ucx.clients", "Clients connected through UCX.", node("ucx_clients"));
        counter("kvpool.node.ucx.refusals", "Clients that asked for UCX and got tcp.", node("ucx_refusals"));
        counter("kvpool.node.ucx.write.bytes", "Payload bytes written through UCX.", node("ucx_write_bytes"));
        counter("kvpool.node.ucx.read.bytes", "Payload bytes read through UCX.", node("ucx_read_bytes"));
        gauge("kvpool.node.ascend.clients", "Clients whose memory CANN reaches.", node("ascend_clients"));
        counter(
                "kvpool.node.ascend.refusals",
                "Clients that asked for ascend and did not get it.",
                node("ascend_refusals"));
        counter("kvpool.node.ascend.write.bytes", "Payload bytes written through CANN.", node("ascend_write_bytes"));
        counter("kvpool.node.ascend.read.bytes", "Payload bytes read through CANN.", node("ascend_read_bytes"));
        counter("kvpool.node.ascend.transfers", "Transfers that CANN ended well.", node("ascend_transfers"));
        counter(
                "kvpool.node.ascend.transfer.failures",
                "Transfers that CANN did not end well.",
                node("ascend_transfer_failures"));
        histogram(
                "kvpool_node_ascend_transfer_duration_seconds",
                "Time that transfers through CANN took, well or not, with the wait for a channel.",
                stats -> durations(stats, "ascend_transfer"));
        histogram(
                "kvpool_node_ascend_connect_duration_seconds",
                "Time that channels took that CANN was asked for, well or not; those that it makes by itself take part of a"
                        + " transfer's.",
                stats -> durations(stats, "ascend_connect"));
        counter(
                "kvpool.node.ascend.transfer.timeouts",
                "Of the transfers that CANN did not end well, those that ran out of time.",
                node("ascend_transfer_timeouts"));
        counter(
                "kvpool.node.ascend.retries",
                "Transfers tried again because CANN had no room for their channel.",
                node("ascend_retries"));
        counter(
                "kvpool.node.ascend.connects",
                "Channels of CANN that were made, or left to it to make.",
                node("ascend_connects"));
        counter(
                "kvpool.node.ascend.renewals",
                "Channels ended to be made again, as they did not know all memory or were of an earlier life.",
                node("ascend_renewals"));
        counter(
                "kvpool.node.ascend.disconnects",
                "Ends of channels that CANN was asked for.",
                node("ascend_disconnects"));
        counter(
                "kvpool.node.ascend.room.made",
                "Channels ended because another one needed their room.",
                node("ascend_room_made"));
        gauge(
                "kvpool.node.ascend.channels",
                "Channels of CANN that there are, with those that it keeps.",
                node("ascend_channels"));
        gauge(
                "kvpool.node.ascend.channels.kept",
                "Channels that CANN keeps although their client is gone.",
                node("ascend_channels_kept"));
        gauge(
                "kvpool.node.ascend.channels.max",
                "Channels of CANN that there may be; 0 without ascend.",
                node("ascend_channels_max"));
        String handshakes = "TLS handshakes on the data port, and of what this process dials";
        counter("kvpool.tls.handshakes", handshakes, "result", "ok", node("tls_handshakes"));
        counter("kvpool.tls.handshakes", handshakes, "result", "failed", node("tls_handshake_failures"));
        counter("kvpool.node.plain.refusals", "Connections without TLS that were refused.", node("tls_plain_refusals"));
        counter(
                "kvpool.node.auth.refusals",
                "Peers refused on the data port whose certificate does not allow what they asked for.",
                node("auth_refusals"));
        counter(
                "kvpool.node.grant.refusals",
                "Writes refused because the leader did not grant them: not here, not to this tenant, or not this object.",
                node("grant_refusals"));
        counter("kvpool.node.writes", "Objects written.", node("writes"));
        counter("kvpool.node.write.bytes", "Payload bytes written.", node("write_bytes"));
        counter("kvpool.node.write.failures", "Writes refused or aborted.", node("write_failures"));
        counter("kvpool.node.reads", "Objects read over connections.", node("reads"));
        counter("kvpool.node.read.bytes", "Payload bytes read over connections.", node("read_bytes"));
        counter("kvpool.node.read.misses", "Reads of objects that were replaced meanwhile.", node("read_misses"));
        counter("kvpool.node.checksum.failures", "Payloads with a wrong checksum.", node("checksum_failures"));
        counter("kvpool.node.stale.refusals", "Commands of an older epoch refused.", node("stale_refusals"));
        counter(
                "kvpool.node.protocol.errors",
                "Connections closed because of malformed bytes.",
                node("protocol_errors"));
        counter("kvpool.node.damaged.objects", "Objects dropped because of wrong bytes.", node("damaged_objects"));
        counter("kvpool.node.scrubbed.bytes", "Payload bytes checked by the scrubber.", node("scrubbed_bytes"));
        counter("kvpool.node.copies.in", "Objects copied here from other nodes.", node("copies_in"));
        counter("kvpool.node.copy.in.bytes", "Payload bytes copied here.", node("copies_in_bytes"));
        gauge("kvpool.node.ssd.capacity.bytes", "Bytes of the SSD tier.", node("ssd_capacity_bytes"));
        gauge("kvpool.node.ssd.used.bytes", "Bytes used in the SSD tier.", node("ssd_used_bytes"));
        gauge("kvpool.node.ssd.objects", "Objects in the SSD tier.", node("ssd_objects"));
        gauge("kvpool.node.ssd.off", "1 when the configured SSD tier does not work.", node("ssd_off"));
        counter("kvpool.node.ssd.writes", "Objects written to the SSD tier.", node("ssd_writes"));
        counter("kvpool.node.ssd.write.bytes", "Payload bytes written to the SSD tier.", node("ssd_write_bytes"));
        counter("kvpool.node.ssd.reads", "Objects read from the SSD tier.", node("ssd_reads"));
        counter("kvpool.node.ssd.read.bytes", "Payload bytes read from the SSD tier.", node("ssd_read_bytes"));
        histogram(
                "kvpool_node_ssd_read_duration_seconds",
                "Time that reads of payloads from the SSD took, with the wait for others.",
                stats -> durations(stats, "ssd_read"));
        histogram(
                "kvpool_node_ssd_write_duration_seconds",
                "Time that writes of payloads to the SSD took, with the wait for others.",
                stats -> durations(stats, "ssd_write"));
        mooncake();
    }

    /** As dashboards of Mooncake's know them. */
    private void mooncake() {
        counter("mooncake.ssd.read.ops", "Objects read from the SSD tier.", node("ssd_reads"));
        counter("mooncake.ssd.read.bytes", "Payload bytes read from the SSD tier.", node("ssd_read_bytes"));
        counter("mooncake.ssd.write.ops", "Objects written to the SSD tier.", node("ssd_writes"));
        counter("mooncake.ssd.write.bytes", "Payload bytes written to the SSD tier.", node("ssd_write_bytes"));
        counter(
                "mooncake.ssd.total.ops",
                "Objects read from the SSD tier and written to it.",
                stats -> node("ssd_reads").applyAsDouble(stats)
                        + node("ssd_writes").applyAsDouble(stats));
        counter(
                "mooncake.ssd.total.bytes",
                "Payload bytes read from the SSD tier and written to it.",
                stats -> node("ssd_read_bytes").applyAsDouble(stats)
                        + node("ssd_write_bytes").applyAsDouble(stats));
        String took = "Microseconds that payloads took, one by one, with the wait for others: ";
        microseconds("mooncake_ssd_read_latency_us", took + "read from the SSD tier.", "ssd_read");
        microseconds("mooncake_ssd_write_latency_us", took + "written to the SSD tier.", "ssd_write");
        microseconds("mooncake_ssd_total_latency_us", took + "read and written.", "ssd_read", "ssd_write");
    }

    private void microseconds(String name, String help, String... what) {
        histogram(name, help, stats -> {
            List<Long> counts = BUCKETS.stream()
                    .map(bucket -> sum(stats, "s_" + bucket, what))
                    .toList();
            return new Histogram(List.of("100", "1000", "10000", "100000", "1000000"), counts, sum(stats, "_us", what));
        });
    }

    private static long sum(NativeStats stats, String part, String... what) {
        return Stream.of(what).mapToLong(one -> stats.get(one + part)).sum();
    }

    private static Histogram durations(NativeStats stats, String what) {
        List<Long> counts =
                BUCKETS.stream().map(bucket -> stats.get(what + "s_" + bucket)).toList();
        return new Histogram(List.of("0.0001", "0.001", "0.01", "0.1", "1"), counts, stats.get(what + "_us") / 1e6);
    }
}
