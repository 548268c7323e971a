// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.http.AdminAnswer;
import dev.kvpool.dataplane.http.AdminCaller;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Asks the masters' admin HTTP how the pool is. */
final class PoolProbe {
    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private final ObjectMapper json = new ObjectMapper();
    private final AdminCaller caller;
    private final List<HostPort> admins;

    /**
     * How the pool is.
     *
     * @param ready whether a leader serves with all nodes
     * @param sentence what was found, for the message when that takes too long
     */
    record PoolState(boolean ready, String sentence) {}

    PoolProbe(AdminCaller caller, List<HostPort> admins) {
        this.caller = caller;
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

    private String get(HostPort admin, String path) throws IOException {
        AdminAnswer answer = caller.get(admin, path, TIMEOUT, TIMEOUT);
        if (!answer.isOk()) {
            throw new IOException(admin + path + " answered with HTTP status " + answer.status());
        }
        return answer.body();
    }
}
