// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import dev.kvpool.dataplane.metrics.SampledMetrics;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.nativelib.NodeStats;
import dev.kvpool.nativelib.Protocol;
import java.util.Locale;

/** The node's numbers for Prometheus. */
final class NodeMetrics extends SampledMetrics<NodeStats> {
    NodeMetrics(PoolSecurity security) {
        super(security);
        gauge("kvpool.node.up", "1 while the segment is open.", stats -> 1);
        gauge("kvpool.node.capacity.bytes", "Bytes objects can use.", NodeStats::capacityBytes);
        gauge("kvpool.node.used.bytes", "Bytes allocated, committed or being written.", NodeStats::usedBytes);
        gauge("kvpool.node.objects", "Committed objects.", NodeStats::objects);
        gauge("kvpool.node.epoch", "Highest epoch accepted.", NodeStats::epoch);
        gauge("kvpool.node.fenced", "1 when the leader of that epoch is connected.", stats -> stats.fenced() ? 1 : 0);
        gauge("kvpool.node.masters.connected", "Masters connected.", NodeStats::mastersConnected);
        gauge("kvpool.node.masters.configured", "Masters configured.", NodeStats::mastersTotal);
        gauge("kvpool.node.clients.connected", "Client connections.", NodeStats::clientsConnected);
        gauge("kvpool.node.restored.objects", "Objects found at start.", NodeStats::restoredObjects);
        gauge(
                "kvpool.node.dropped.records",
                "Records found at start that were damaged or of an unknown epoch.",
                NodeStats::droppedRecords);
        String aside = "Files found at start that it could not use and set aside.";
        gauge(
                "kvpool.node.files.set.aside",
                aside,
                "reason",
                "damaged",
                stats -> stats.setAside().damaged());
        gauge(
                "kvpool.node.files.set.aside",
                aside,
                "reason",
                "foreign",
                stats -> stats.setAside().foreign());
        gauge(
                "kvpool.node.set.aside.bytes",
                "Bytes of files set aside.",
                stats -> stats.setAside().bytes());
        gauge(
                "kvpool.node.replaced.layout",
                "Layout of the empty segment that this start replaced; 0 if it replaced none.",
                NodeStats::replacedLayout);
        gauge("kvpool.node.tombstones", "Removed keys that are remembered.", NodeStats::tombstones);
        gauge("kvpool.node.scrub.rounds", "Complete rounds of the scrubber.", NodeStats::scrubRounds);
        gauge("kvpool.node.prefault.bytes", "Bytes of the segment to be prefaulted.", NodeStats::prefaultBytes);
        gauge("kvpool.node.prefaulted.bytes", "Bytes of the segment prefaulted so far.", NodeStats::prefaultedBytes);
        for (Protocol protocol : Protocol.values()) {
            gauge(
                    "kvpool.node.serves." + protocol.name().toLowerCase(Locale.ROOT),
                    "1 when clients may use this protocol.",
                    stats -> stats.protocols().contains(protocol) ? 1 : 0);
        }
        gauge("kvpool.node.ucx.clients", "Clients connected through UCX.", NodeStats::ucxClients);
        counter("kvpool.node.ucx.refusals", "Clients that asked for UCX and got tcp.", NodeStats::ucxRefusals);
        counter("kvpool.node.ucx.write.bytes", "Payload bytes written through UCX.", NodeStats::ucxWriteBytes);
        counter("kvpool.node.ucx.read.bytes", "Payload bytes read through UCX.", NodeStats::ucxReadBytes);
        gauge(
                "kvpool.node.ascend.clients",
                "Clients whose memory CANN reaches.",
                s -> s.ascend().clients());
        counter(
                "kvpool.node.ascend.refusals",
                "Clients that asked for ascend and did not get it.",
                s -> s.ascend().refusals());
        counter(
                "kvpool.node.ascend.write.bytes",
                "Payload bytes written through CANN.",
                s -> s.ascend().writeBytes());
        counter(
                "kvpool.node.ascend.read.bytes",
                "Payload bytes read through CANN.",
                s -> s.ascend().readBytes());
        counter(
                "kvpool.node.ascend.transfers",
                "Transfers that CANN ended well.",
                s -> s.ascend().transfers());
        counter(
                "kvpool.node.ascend.transfer.failures",
                "Transfers that CANN did not end well.",
                s -> s.ascend().failures());
        counter(
                "kvpool.node.ascend.transfer.seconds",
                "Time that transfers through CANN took, with the wait for a channel.",
                s -> s.ascend().time().toNanos() / 1e9);
        counter(
                "kvpool.node.ascend.transfer.timeouts",
                "Of the transfers that CANN did not end well, those that ran out of time.",
                s -> s.ascend().timeouts());
        counter(
                "kvpool.node.ascend.retries",
                "Transfers tried again because CANN had no room for their channel.",
                s -> s.ascend().channels().retries());
        counter(
                "kvpool.node.ascend.connects",
                "Channels of CANN that were made, or left to it to make.",
                s -> s.ascend().channels().connects());
        counter(
                "kvpool.node.ascend.renewals",
                "Channels ended to be made again, as they did not know all memory or were of an earlier life.",
                s -> s.ascend().channels().renewals());
        counter(
                "kvpool.node.ascend.disconnects",
                "Ends of channels that CANN was asked for.",
                s -> s.ascend().channels().disconnects());
        counter(
                "kvpool.node.ascend.room.made",
                "Channels ended because another one needed their room.",
                s -> s.ascend().channels().roomMade());
        gauge(
                "kvpool.node.ascend.channels",
                "Channels of CANN that there are, with those that it keeps.",
                s -> s.ascend().channels().inUse());
        gauge(
                "kvpool.node.ascend.channels.kept",
                "Channels that CANN keeps although their client is gone.",
                s -> s.ascend().channels().kept());
        gauge(
                "kvpool.node.ascend.channels.max",
                "Channels of CANN that there may be; 0 without ascend.",
                s -> s.ascend().channels().most());
        String handshakes = "TLS handshakes on the data port, and of what this process dials";
        counter(
                "kvpool.tls.handshakes",
                handshakes,
                "result",
                "ok",
                stats -> stats.tls().handshakes());
        counter(
                "kvpool.tls.handshakes",
                handshakes,
                "result",
                "failed",
                stats -> stats.tls().failures());
        counter(
                "kvpool.node.plain.refusals",
                "Connections without TLS that were refused.",
                stats -> stats.tls().plainRefusals());
        counter(
                "kvpool.node.auth.refusals",
                "Peers refused on the data port whose certificate does not allow what they asked for.",
                stats -> stats.tls().authRefusals());
        counter(
                "kvpool.node.grant.refusals",
                "Writes refused because the leader did not grant them: not here, not to this tenant, or not this object.",
                stats -> stats.tls().grantRefusals());
        counter("kvpool.node.writes", "Objects written.", NodeStats::writes);
        counter("kvpool.node.write.bytes", "Payload bytes written.", NodeStats::writeBytes);
        counter("kvpool.node.write.failures", "Writes refused or aborted.", NodeStats::writeFailures);
        counter("kvpool.node.reads", "Objects read over connections.", NodeStats::reads);
        counter("kvpool.node.read.bytes", "Payload bytes read over connections.", NodeStats::readBytes);
        counter("kvpool.node.read.misses", "Reads of objects that were replaced meanwhile.", NodeStats::readMisses);
        counter("kvpool.node.checksum.failures", "Payloads with a wrong checksum.", NodeStats::checksumFailures);
        counter("kvpool.node.stale.refusals", "Commands of an older epoch refused.", NodeStats::staleRefusals);
        counter(
                "kvpool.node.protocol.errors",
                "Connections closed because of malformed bytes.",
                NodeStats::protocolErrors);
        counter("kvpool.node.damaged.objects", "Objects dropped because of wrong bytes.", NodeStats::damagedObjects);
        counter("kvpool.node.scrubbed.bytes", "Payload bytes checked by the scrubber.", NodeStats::scrubbedBytes);
        counter("kvpool.node.copies.in", "Objects copied here from other nodes.", NodeStats::copiesIn);
        counter("kvpool.node.copy.in.bytes", "Payload bytes copied here.", NodeStats::copiesInBytes);
        gauge(
                "kvpool.node.ssd.capacity.bytes",
                "Bytes of the SSD tier.",
                stats -> stats.ssd().capacityBytes());
        gauge(
                "kvpool.node.ssd.used.bytes",
                "Bytes used in the SSD tier.",
                stats -> stats.ssd().usedBytes());
        gauge(
                "kvpool.node.ssd.objects",
                "Objects in the SSD tier.",
                stats -> stats.ssd().objects());
        gauge(
                "kvpool.node.ssd.off",
                "1 when the configured SSD tier does not work.",
                stats -> stats.ssd().off() ? 1 : 0);
        counter(
                "kvpool.node.ssd.writes",
                "Objects written to the SSD tier.",
                stats -> stats.ssd().writes());
        counter(
                "kvpool.node.ssd.write.bytes",
                "Payload bytes written to the SSD tier.",
                stats -> stats.ssd().writeBytes());
        counter(
                "kvpool.node.ssd.reads",
                "Objects read from the SSD tier.",
                stats -> stats.ssd().reads());
    }
}
