// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.nativelib.AgentStats;
import java.nio.file.Path;

/** What an agent says of itself in its answers: the JSON of {@code /api/v1/agent}, and the line of its summary. */
final class AgentDocument {
    private static final ObjectMapper JSON = new ObjectMapper();

    private AgentDocument() {}

    static String of(Path socket, AgentStats stats) {
        ObjectNode root = JSON.createObjectNode();
        root.put("socket", socket.toString());
        root.put("leaderKnown", stats.leaderKnown());
        root.put("epoch", stats.epoch());
        root.put("clients", stats.clients());
        root.putObject("staging").put("bytes", stats.stagingBytes()).put("maxBytes", stats.stagingBytesMax());
        root.putObject("requests")
                .put("running", stats.running())
                .put("taken", stats.requests())
                .put("lines", stats.lines());
        return root.toString();
    }

    /** One line for people. */
    static String summary(AgentStats stats) {
        return "leader known: %s | clients: %d | staging: %d of %d bytes | requests: %d, running: %d | put: %d bytes | get: %d bytes | hits: %d | misses: %d\n"
                .formatted(
                        stats.leaderKnown() ? "yes" : "no",
                        stats.clients(),
                        stats.stagingBytes(),
                        stats.stagingBytesMax(),
                        stats.requests(),
                        stats.running(),
                        stats.putBytes(),
                        stats.getBytes(),
                        stats.hits(),
                        stats.misses());
    }
}
