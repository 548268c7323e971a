// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import java.util.List;
import java.util.UUID;

/**
 * What the leader tells about where things are.
 *
 * @param poolId of its pool
 * @param nodes all storage nodes, also those that are not there
 */
record PoolMap(UUID poolId, List<StorageNode> nodes) {
    PoolMap {
        nodes = List.copyOf(nodes);
    }
}
