// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.status;

import com.fasterxml.jackson.databind.JsonNode;
import dev.kvpool.operator.plugin.output.TextTable;
import java.util.List;

/**
 * A pool in one line, from its status alone. Pure.
 *
 * @param phase empty when no operator has looked at it yet
 */
public record PoolLine(String pool, String phase, String masters, String storage, String leader, String message) {
    /**
     * That of one pool.
     *
     * @param pool as the API server writes it
     */
    public static PoolLine of(JsonNode pool) {
        JsonNode status = pool.path("status");
        return new PoolLine(
                pool.at("/metadata/name").asText(),
                status.path("phase").asText(),
                status.at("/masters/summary").asText(),
                status.at("/storage/summary").asText(),
                status.at("/leader/pod").asText(),
                status.path("message").asText("no operator has looked at it yet"));
    }

    /** All pools of a namespace, one a line. */
    public static String table(List<PoolLine> lines, String namespace) {
        if (lines.isEmpty()) {
            return "There is no KvCachePool in namespace %s.%n".formatted(namespace);
        }
        TextTable table = new TextTable("POOL", "PHASE", "MASTERS", "STORAGE", "LEADER", "MESSAGE");
        lines.forEach(it -> table.row(it.pool(), it.phase(), it.masters(), it.storage(), it.leader(), it.message()));
        return table.toString();
    }
}
