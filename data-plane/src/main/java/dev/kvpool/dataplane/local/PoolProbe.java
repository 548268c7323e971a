// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.config.HostPort;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Asks the masters' admin HTTP how the pool is. */
final class PoolProbe {
    private static final int TIMEOUT_MS = 1000;
    private static final int BODY_BYTES_MAX = 4 << 20;

    private final ObjectMapper json = new ObjectMapper();
    private final List<HostPort> admins;

    /**
     * How the pool is.
     *
     * @param ready whether a leader serves with all nodes
     * @param sentence what was found, for the message when that takes too long
     */
    record PoolState(boolean ready, String sentence) {}

    PoolProbe(List<HostPort> admins) {
        this.admins = admins;
    }

    PoolState ask(int nodesWanted) {
        String last = "no master answered";
        for (HostPort admin : admins) {
            try {
                if (get(admin, "/role").trim().equals("leader")) {
                    return leader(json.readTree(get(admin, "/api/v1/pool")), nodesWanted);
                }
                last = "no master leads yet";
            } catch (IOException e) {
                // This master is starting or dead; another one may lead.
            }
        }
        return new PoolState(false, last);
    }

    private static PoolState leader(JsonNode pool, int nodesWanted) {
        String state = pool.path("state").asText();
        int ready = pool.path("readyNodes").asInt();
        return new PoolState(
                state.equals("serving") && ready >= nodesWanted,
                "the leader " + pool.path("name").asText() + " is " + state + " with " + ready + " of " + nodesWanted
                        + " nodes");
    }

    private static String get(HostPort admin, String path) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create("http://" + admin + path).toURL().openConnection();
        connection.setConnectTimeout(TIMEOUT_MS);
        connection.setReadTimeout(TIMEOUT_MS);
        try (InputStream body = connection.getInputStream()) {
            return new String(body.readNBytes(BODY_BYTES_MAX), StandardCharsets.UTF_8);
        } finally {
            connection.disconnect();
        }
    }
}
