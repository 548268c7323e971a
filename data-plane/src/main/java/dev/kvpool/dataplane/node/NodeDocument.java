// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.nativelib.NodeStats;
import dev.kvpool.nativelib.Protocol;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The JSON of {@code /api/v1/node}. What a node holds before it stops and what it restored after the start are comparable:
 * count and order-free hash of the ids. Hashes are 16 hexadecimal digits, because JSON numbers do not hold 64 bits.
 */
final class NodeDocument {
    private static final ObjectMapper JSON = new ObjectMapper();

    private NodeDocument() {}

    /**
     * @param problem why a protocol that was asked for is not served; empty when all are
     */
    static String of(String nodeId, NodeStats stats, String problem) {
        ObjectNode root = JSON.createObjectNode();
        root.put("id", nodeId);
        root.put("incarnation", hex16(stats.incarnation()));
        root.put("epoch", stats.epoch());
        root.put("capacityBytes", stats.capacityBytes());
        root.put("usedBytes", stats.usedBytes());
        root.put("objects", stats.objects());
        root.put("idsHash", hex16(stats.idsHash()));
        root.put("tombstones", stats.tombstones());
        root.putObject("restored")
                .put("objects", stats.restoredObjects())
                .put("idsHash", hex16(stats.restoredIdsHash()))
                .put("droppedRecords", stats.droppedRecords());
        root.putObject("scrub")
                .put("rounds", stats.scrubRounds())
                .put("bytes", stats.scrubbedBytes())
                .put("damagedObjects", stats.damagedObjects());
        root.put("pageBytes", stats.pageBytes());
        root.putObject("prefault").put("bytes", stats.prefaultBytes()).put("doneBytes", stats.prefaultedBytes());
        ObjectNode protocols = root.putObject("protocols");
        Stream.of(Protocol.values())
                .filter(stats.protocols()::contains)
                .map(protocol -> protocol.name().toLowerCase(Locale.ROOT))
                .forEach(protocols.putArray("served")::add);
        protocols.put("problem", problem);
        root.putObject("ucx")
                .put("clients", stats.ucxClients())
                .put("refusals", stats.ucxRefusals())
                .put("writeBytes", stats.ucxWriteBytes())
                .put("readBytes", stats.ucxReadBytes());
        root.putObject("ascend")
                .put("clients", stats.ascend().clients())
                .put("refusals", stats.ascend().refusals())
                .put("writeBytes", stats.ascend().writeBytes())
                .put("readBytes", stats.ascend().readBytes())
                .put("transfers", stats.ascend().transfers())
                .put("failures", stats.ascend().failures());
        root.putObject("copiesIn").put("objects", stats.copiesIn()).put("bytes", stats.copiesInBytes());
        root.putObject("ssd")
                .put("capacityBytes", stats.ssd().capacityBytes())
                .put("usedBytes", stats.ssd().usedBytes())
                .put("objects", stats.ssd().objects())
                .put("off", stats.ssd().off());
        root.putObject("setAside")
                .put("damaged", stats.setAside().damaged())
                .put("foreign", stats.setAside().foreign())
                .put("bytes", stats.setAside().bytes());
        root.put("replacedLayout", stats.replacedLayout());
        return root.toString();
    }

    private static String hex16(long value) {
        return String.format("%016x", value);
    }
}
