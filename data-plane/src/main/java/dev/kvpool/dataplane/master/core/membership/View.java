// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.IndexRoom;
import dev.kvpool.dataplane.master.core.index.Tombstones;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * What a master knows of the pool, leader or standby: the nodes, the objects they show and which of these belong together,
 * the tombstones, and what became of keys that are gone. None of it outlives the process.
 */
public record View(
        Index index,
        IndexRoom room,
        Groups groups,
        Membership membership,
        Tombstones tombstones,
        RecentRemovals removals) {
    /**
     * That of a master which no node has spoken to yet.
     *
     * @param poolCopies how many copies the pool wants of an object
     * @param recordBytesMax what the records of the index may take
     */
    public static View empty(
            int poolCopies,
            long recordBytesMax,
            Set<String> expectedNodes,
            NodesSetApart setApart,
            RandomGenerator random) {
        Index index = new Index(poolCopies, random, recordBytesMax);
        IndexRoom room = new IndexRoom(index);
        Membership membership = new Membership(expectedNodes, setApart, room);
        RecentRemovals removals = new RecentRemovals();
        index.whenLost(removals::lost);
        return new View(index, room, new Groups(index), membership, new Tombstones(), removals);
    }
}
