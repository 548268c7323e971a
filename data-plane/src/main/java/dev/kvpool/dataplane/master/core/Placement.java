// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Where a new object goes. The node the writer prefers is taken when it has room; for every other copy two nodes are drawn
 * and the one with more free bytes is taken: nearly as even as always taking the emptiest, without sending every writer of
 * the same moment there. Copies lie on different nodes, and in different zones as long as there are any; nodes that are not
 * to be chosen at present are taken when no others are left.
 */
final class Placement {
    private Placement() {}

    /** A node that may take objects. */
    interface Candidate {
        String id();

        /** Failure domain, empty when unknown. */
        String zone();

        /** Whether a new object of this size has a place, and a directory slot. */
        boolean hasRoom(long extentBytes);

        /** Bytes that new objects may take. */
        long freeBytes();

        /** The part of new objects, 0 to 1, that the node should be considered for. */
        double willingness();
    }

    /**
     * Chooses different nodes for the copies of one object.
     *
     * @return at most {@code replicas} nodes; fewer when fewer have room, empty when none has
     */
    static <C extends Candidate> List<C> choose(
            List<C> candidates, long extentBytes, int replicas, String preferred, RandomGenerator random) {
        List<C> willing = new ArrayList<>();
        List<C> others = new ArrayList<>();
        List<C> chosen = new ArrayList<>();
        for (C candidate : candidates) {
            if (!candidate.hasRoom(extentBytes)) {
                continue;
            }
            double willingness = candidate.willingness();
            if (candidate.id().equals(preferred) && willingness > 0) {
                chosen.add(candidate);
            } else if (willingness >= 1 || random.nextDouble() < willingness) {
                willing.add(candidate);
            } else {
                others.add(candidate);
            }
        }
        fill(chosen, willing, replicas, random);
        fill(chosen, others, replicas, random);
        return chosen;
    }

    private static <C extends Candidate> void fill(List<C> chosen, List<C> from, int replicas, RandomGenerator random) {
        while (chosen.size() < replicas && !from.isEmpty()) {
            List<C> elsewhere = inNewZones(chosen, from);
            List<C> drawn = elsewhere.isEmpty() ? from : elsewhere;
            C next = drawn.get(emptierOfTwo(drawn, random));
            from.remove(next);
            chosen.add(next);
        }
    }

    private static <C extends Candidate> List<C> inNewZones(List<C> chosen, List<C> from) {
        if (chosen.isEmpty()) {
            return from;
        }
        Set<String> zones = new HashSet<>();
        chosen.forEach(candidate -> zones.add(candidate.zone()));
        List<C> elsewhere = new ArrayList<>(from);
        elsewhere.removeIf(candidate -> zones.contains(candidate.zone()));
        return elsewhere;
    }

    private static int emptierOfTwo(List<? extends Candidate> candidates, RandomGenerator random) {
        int first = random.nextInt(candidates.size());
        int second = random.nextInt(candidates.size());
        return candidates.get(first).freeBytes() >= candidates.get(second).freeBytes() ? first : second;
    }
}
