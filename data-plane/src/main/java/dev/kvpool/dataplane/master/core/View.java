// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * What a master knows of the pool, leader or standby: the nodes, the objects they show and which of these belong together,
 * the tombstones, and what became of keys that are gone. None of it outlives the process.
 */
record View(Index index, Groups groups, Membership membership, Tombstones tombstones, Departed departed) {
    /** That of a master which no node has spoken to yet, of a pool that wants so many copies of an object. */
    static View empty(int poolCopies, Set<String> expectedNodes, RandomGenerator random) {
        Index index = new Index(poolCopies, random);
        return new View(index, new Groups(index), new Membership(expectedNodes), new Tombstones(), new Departed());
    }
}
