// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.nativelib.NativeStats;
import java.nio.file.Path;

/** What an agent says of itself in its answers: the JSON of {@code /api/v1/agent}, and the line of its summary. */
final class AgentDocument {
    private static final ObjectMapper JSON = new ObjectMapper();

    private AgentDocument() {}

    static String of(Path socket, NativeStats stats) {
        ObjectNode root = JSON.createObjectNode();
        root.put("socket", socket.toString());
        root.put("leaderKnown", stats.is("leader_known"));
        root.put("epoch", stats.get("epoch"));
        root.put("clients", stats.get("clients"));
        root.putObject("staging")
                .put("bytes", stats.get("staging_bytes"))
                .put("maxBytes", stats.get("staging_bytes_max"));
        root.putObject("requests")
                .put("running", stats.get("running"))
                .put("taken", stats.get("requests"))
                .put("lines", stats.get("lines"));
        return root.toString();
    }

    /** One line for people. */
    static String summary(NativeStats stats) {
        return "leader known: %s | clients: %d | staging: %d of %d bytes | requests: %d, running: %d | put: %d bytes | get: %d bytes | hits: %d | misses: %d\n"
                .formatted(
                        stats.is("leader_known") ? "yes" : "no",
                        stats.get("clients"),
                        stats.get("staging_bytes"),
                        stats.get("staging_bytes_max"),
                        stats.get("requests"),
                        stats.get("running"),
                        stats.get("put_bytes"),
                        stats.get("get_bytes"),
                        stats.get("hits"),
                        stats.get("misses"));
    }
}
