// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import java.util.Optional;

/**
 * The ServiceAccount of storage pods that are there, whatever the spec says now: they serve until the last of them is drained or made again.
 *
 * @param name its name, in the pool's namespace
 * @param perNodeSet name of their set, where that has a storage node on each Kubernetes node
 */
public record StorageAccount(String name, Optional<String> perNodeSet) {
    /** As masters that give certificates read it. */
    String role() {
        return perNodeSet.map(set -> AccountRoles.NODE + " " + set).orElse(AccountRoles.NODE);
    }
}
