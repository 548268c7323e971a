// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.status;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.plugin.output.TextTable;
import dev.kvpool.operator.plugin.output.Words;
import java.util.List;
import java.util.Objects;

/**
 * A pool in one line, from its status alone. Pure.
 *
 * @param phase empty when no operator has looked at it yet
 */
record PoolLine(String pool, String phase, String masters, String storage, String leader, String message) {
    static PoolLine of(KvCachePool pool) {
        KvCachePoolStatus status = Objects.requireNonNullElse(pool.getStatus(), KvCachePoolStatus.EMPTY);
        return new PoolLine(
                pool.getMetadata().getName(),
                status.phase() == null ? "" : Words.of(status.phase()),
                status.masters() == null ? "" : status.masters().summary(),
                status.storage() == null ? "" : status.storage().summary(),
                status.leader() == null ? "" : status.leader().pod(),
                status.message() == null ? "no operator has looked at it yet" : status.message());
    }

    static String table(List<PoolLine> lines, String namespace) {
        if (lines.isEmpty()) {
            return "There is no KvCachePool in namespace %s.%n".formatted(namespace);
        }
        TextTable table = new TextTable("POOL", "PHASE", "MASTERS", "STORAGE", "LEADER", "MESSAGE");
        lines.forEach(it -> table.row(it.pool(), it.phase(), it.masters(), it.storage(), it.leader(), it.message()));
        return table.toString();
    }
}
