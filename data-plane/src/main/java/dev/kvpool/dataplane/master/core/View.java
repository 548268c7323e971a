// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * What a master knows of the pool, leader or standby: the nodes, the objects they show and which of these belong together,
 * the tombstones, and what became of keys that are gone. None of it outlives the process.
 */
record View(Index index, Groups groups, Membership membership, Tombstones tombstones, Departed departed) {
    /** That of a master which no node has spoken to yet. */
    static View empty(CoreSettings settings, Set<String> expectedNodes, RandomGenerator random) {
        Index index = new Index(settings.replicas(), random);
        return new View(index, new Groups(index), new Membership(expectedNodes), new Tombstones(), new Departed());
    }
}
