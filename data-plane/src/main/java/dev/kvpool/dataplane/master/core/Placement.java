// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Where a new object goes. The node the writer prefers is taken when it has room; for every other copy two nodes are drawn
 * and the one with more free bytes is taken: nearly as even as always taking the emptiest, without sending every writer of
 * the same moment there.
 */
final class Placement {
    private Placement() {}

    /** A node that may take objects. */
    interface Candidate {
        String id();

        /** Room for new objects, in bytes and in directory slots. */
        long freeBytes();

        long freeSlots();
    }

    /**
     * Chooses different nodes for the copies of one object.
     *
     * @return at most {@code replicas} nodes; fewer when fewer have room, empty when none has
     */
    static <C extends Candidate> List<C> choose(
            List<C> candidates, long extentBytes, int replicas, String preferred, RandomGenerator random) {
        List<C> withRoom = new ArrayList<>();
        List<C> chosen = new ArrayList<>();
        for (C candidate : candidates) {
            if (candidate.freeBytes() < extentBytes || candidate.freeSlots() < 1) {
                continue;
            }
            if (candidate.id().equals(preferred)) {
                chosen.add(candidate);
            } else {
                withRoom.add(candidate);
            }
        }
        while (chosen.size() < replicas && !withRoom.isEmpty()) {
            chosen.add(withRoom.remove(emptierOfTwo(withRoom, random)));
        }
        return chosen;
    }

    private static int emptierOfTwo(List<? extends Candidate> candidates, RandomGenerator random) {
        int first = random.nextInt(candidates.size());
        int second = random.nextInt(candidates.size());
        return candidates.get(first).freeBytes() >= candidates.get(second).freeBytes() ? first : second;
    }
}
