// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.nativelib.NativeStats;
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
    static String of(String nodeId, NativeStats stats, String problem) {
        ObjectNode root = JSON.createObjectNode();
        root.put("id", nodeId);
        root.put("incarnation", hex16(stats.get("incarnation")));
        root.put("epoch", stats.get("epoch"));
        root.put("capacityBytes", stats.get("capacity_bytes"));
        root.put("usedBytes", stats.get("used_bytes"));
        root.put("objects", stats.get("objects"));
        root.put("idsHash", hex16(stats.get("ids_hash")));
        root.put("tombstones", stats.get("tombstones"));
        root.putObject("restored")
                .put("objects", stats.get("restored_objects"))
                .put("idsHash", hex16(stats.get("restored_ids_hash")))
                .put("droppedRecords", stats.get("dropped_records"));
        root.putObject("scrub")
                .put("rounds", stats.get("scrub_rounds"))
                .put("bytes", stats.get("scrubbed_bytes"))
                .put("damagedObjects", stats.get("damaged_objects"));
        root.put("pageBytes", stats.get("page_bytes"));
        root.putObject("prefault")
                .put("bytes", stats.get("prefault_bytes"))
                .put("doneBytes", stats.get("prefaulted_bytes"));
        ObjectNode protocols = root.putObject("protocols");
        Stream.of(Protocol.values())
                .filter(stats.protocols()::contains)
                .map(protocol -> protocol.name().toLowerCase(Locale.ROOT))
                .forEach(protocols.putArray("served")::add);
        protocols.put("problem", problem);
        root.putObject("ucx")
                .put("clients", stats.get("ucx_clients"))
                .put("refusals", stats.get("ucx_refusals"))
                .put("writeBytes", stats.get("ucx_write_bytes"))
                .put("readBytes", stats.get("ucx_read_bytes"));
        root.putObject("ascend")
                .put("clients", stats.get("ascend_clients"))
                .put("refusals", stats.get("ascend_refusals"))
                .put("writeBytes", stats.get("ascend_write_bytes"))
                .put("readBytes", stats.get("ascend_read_bytes"))
                .put("transfers", stats.get("ascend_transfers"))
                .put("failures", stats.get("ascend_transfer_failures"));
        root.putObject("copiesIn").put("objects", stats.get("copies_in")).put("bytes", stats.get("copies_in_bytes"));
        root.putObject("ssd")
                .put("capacityBytes", stats.get("ssd_capacity_bytes"))
                .put("usedBytes", stats.get("ssd_used_bytes"))
                .put("objects", stats.get("ssd_objects"))
                .put("off", stats.is("ssd_off"));
        root.putObject("setAside")
                .put("damaged", stats.get("damaged_files_set_aside"))
                .put("foreign", stats.get("foreign_files_set_aside"))
                .put("bytes", stats.get("set_aside_bytes"));
        root.put("replacedLayout", stats.get("replaced_layout"));
        return root.toString();
    }

    private static String hex16(long value) {
        return String.format("%016x", value);
    }
}
