// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.admin.Answers;
import dev.kvpool.dataplane.admin.MasterAdmin;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Node;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Segments: a storage node is one, by the name of its id. But for the list of names the leader alone answers: it knows who is drained. */
final class SegmentRoutes {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int NAME_SHOWN_MAX = 64;
    private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

    private final MasterAdmin master;

    private SegmentRoutes(MasterAdmin master) {
        this.master = master;
    }

    static List<Route> of(MasterAdmin master) {
        SegmentRoutes routes = new SegmentRoutes(master);
        return List.of(
                Route.get("/get_all_segments", request -> routes.names()),
                Route.get("/get_segments_detail", ErrorCode.ofLeader(master, request -> routes.details())),
                Route.get("/query_segment", Answers.ofLeader(master, routes::use)),
                Route.get("/api/v1/segments/status", ErrorCode.ofLeader(master, routes::status)));
    }

    private List<Node> mounted() {
        return master.status().nodes().stream()
                .filter(node -> node.state().servesReaders())
                .toList();
    }

    private Response names() {
        StringBuilder lines = new StringBuilder();
        mounted().forEach(node -> lines.append(node.id()).append('\n'));
        return Response.text(200, lines.toString());
    }

    private Response details() {
        List<Node> mounted = mounted();
        ObjectNode root = JSON.createObjectNode().put("total_segments", mounted.size());
        ArrayNode segments = root.putArray("segments");
        mounted.forEach(node -> describe(node, segments.addObject()));
        return Response.json(200, root.toString());
    }

    private static void describe(Node node, ObjectNode object) {
        object.put("segment_name", node.id())
                .put("segment_id", node.id())
                .put("client_id", "%016x".formatted(node.incarnation()))
                .put("size_bytes", node.capacityBytes())
                .put("size_human", human(node.capacityBytes()))
                .put("te_endpoint", node.address())
                .put(
                        "protocol",
                        node.protocols().isEmpty() ? "" : node.protocols().getFirst())
                .put("status", SegmentState.of(node.state()).name())
                .put("allocator_used_bytes", node.usedBytes())
                .put("allocator_capacity_bytes", node.capacityBytes())
                .put("allocator_usage_percent", 100.0 * node.usedBytes() / Math.max(1, node.capacityBytes()));
    }

    private Response use(Request request) {
        String name = segment(request, "/query_segment");
        return find(name)
                .map(node -> Response.text(
                        200,
                        "%s\nUsed(bytes): %d\nCapacity(bytes) : %d\n"
                                .formatted(node.id(), node.usedBytes(), node.capacityBytes())))
                .orElseGet(() -> Response.text(404, unknown(name) + "\n"));
    }

    private Response status(Request request) {
        String name = segment(request, "/api/v1/segments/status");
        Optional<Node> node = find(name);
        if (node.isEmpty()) {
            return ErrorCode.SEGMENT_NOT_FOUND.answer(unknown(name));
        }
        SegmentState state = SegmentState.of(node.get().state());
        return Response.json(
                200,
                JSON.createObjectNode()
                        .put("success", true)
                        .put("segment", name)
                        .put("status", state.number())
                        .put("status_name", state.name())
                        .put("error_code", 0)
                        .put("error_message", node.get().reason())
                        .toString());
    }

    private Optional<Node> find(String name) {
        return master.status().nodes().stream()
                .filter(node -> node.id().equals(name))
                .findFirst();
    }

    static String unknown(String name) {
        return "no storage node is called " + shown(name) + ": /get_all_segments lists those there are";
    }

    private static String shown(String name) {
        return name.length() <= NAME_SHOWN_MAX ? name : name.substring(0, NAME_SHOWN_MAX) + "...";
    }

    private static String segment(Request request, String path) {
        return request.parameter("segment")
                .filter(name -> !name.isEmpty())
                .orElseThrow(() -> new IllegalArgumentException("name a segment: " + path + "?segment=NODE"));
    }

    /** With as many digits as tell sizes apart, and no more: 16 GiB, 1.5 GiB. */
    static String human(long bytes) {
        int unit = 0;
        double size = bytes;
        while (size >= 1024 && unit < UNITS.length - 1) {
            size /= 1024;
            unit++;
        }
        String digits = String.format(Locale.ROOT, "%.2f", size);
        return digits.replaceAll("\\.?0+$", "") + " " + UNITS[unit];
    }
}
