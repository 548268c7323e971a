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
import dev.kvpool.dataplane.master.core.report.KeyStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus.Node;
import dev.kvpool.dataplane.wire.message.Key;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/** Where several keys lie, of the caller's tenant or the one it names. The leader alone answers; it is no read, and promises nothing. */
final class MooncakeKeyRoutes {
    /** One question goes to the core for each. */
    static final int KEYS_MAX = 1_000;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String USE = "/batch_query_keys?keys=KEY,KEY,...";

    private final MasterAdmin master;

    private MooncakeKeyRoutes(MasterAdmin master) {
        this.master = master;
    }

    static List<Route> of(MasterAdmin master) {
        MooncakeKeyRoutes routes = new MooncakeKeyRoutes(master);
        return List.of(Route.get("/batch_query_keys", ErrorCode.ofLeader(master, routes::query)));
    }

    private Response query(Request request) {
        Map<String, Key> keys = new LinkedHashMap<>();
        for (String name : names(request)) {
            Key key = Answers.qualified(request, name);
            if (!key.isValid()) {
                throw new IllegalArgumentException(
                        "a key has 1 to %d bytes, and none of them is a zero at its begin: %s"
                                .formatted(Key.BYTES_MAX, USE));
            }
            keys.put(name, key);
        }
        // Asked together, so that the answer takes as long as one.
        Map<String, CompletableFuture<Optional<KeyStatus>>> asked = new LinkedHashMap<>();
        keys.forEach((name, key) -> asked.put(name, master.explain(key)));
        Answers.await(CompletableFuture.allOf(asked.values().toArray(CompletableFuture[]::new)));
        ObjectNode root = JSON.createObjectNode().put("success", true);
        ObjectNode data = root.putObject("data");
        Map<String, String> addresses =
                master.status().nodes().stream().collect(Collectors.toMap(Node::id, Node::address));
        for (Map.Entry<String, CompletableFuture<Optional<KeyStatus>>> each : asked.entrySet()) {
            Optional<KeyStatus> status = each.getValue().join();
            if (status.isEmpty()) {
                return ErrorCode.notServing(master);
            }
            describe(status.get(), addresses, data.putObject(each.getKey()));
        }
        return Response.json(200, root.toString());
    }

    private static Set<String> names(Request request) {
        String text = request.parameter("keys").orElse("");
        Set<String> names = new LinkedHashSet<>(List.of(text.split(",", -1)));
        if (names.contains("")) {
            throw new IllegalArgumentException("name keys, with a comma between two of them: " + USE);
        }
        if (names.size() > KEYS_MAX) {
            throw new IllegalArgumentException(
                    "%d keys at most, not %d: ask several times".formatted(KEYS_MAX, names.size()));
        }
        return names;
    }

    private static void describe(KeyStatus status, Map<String, String> addresses, ObjectNode object) {
        boolean readable = status.state() == KeyStatus.State.READABLE;
        object.put("ok", readable);
        if (!readable) {
            object.put("error", error(status));
            return;
        }
        ArrayNode inMemory = object.putArray("values");
        for (KeyStatus.Holder holder : status.holders()) {
            String address = addresses.getOrDefault(holder.node(), "");
            if (holder.reachable() && holder.inMemory()) {
                inMemory.addObject()
                        .put("size_", status.bytes().orElse(0))
                        .put("protocol_", "tcp")
                        .put("transport_endpoint_", address)
                        .put("segment", holder.node());
            } else if (holder.reachable()) {
                object.withArray("local_disk_values")
                        .addObject()
                        .put("client_id", holder.node())
                        .put("object_size", status.bytes().orElse(0))
                        .put("transport_endpoint", address);
            }
        }
    }

    private static String error(KeyStatus status) {
        String error = switch (status.state()) {
            case ABSENT -> "OBJECT_NOT_FOUND";
            case READABLE, BEING_PUT, UNAVAILABLE -> "REPLICA_IS_NOT_READY";
        };
        return status.cause() == KeyStatus.Cause.NONE
                ? error
                : error + ": " + status.cause().name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
