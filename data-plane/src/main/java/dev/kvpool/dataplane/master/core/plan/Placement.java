// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.plan;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Where the new objects of one request go. The nodes the writer prefers are taken in his order, as far as they have room; for every other copy two
 * nodes are drawn and the one with more free bytes is taken: nearly as even as always taking the emptiest, without sending
 * every writer of the same moment there. Copies lie on different nodes, and in different zones as long as there are any; nodes
 * that are not to be chosen at present are taken when no others are left, and last of all, where there is more than one copy, nodes
 * whose zone will only be known later: it may be that of the other copy. Where there are many nodes, only a few that are drawn are
 * looked at, and all of them when those do not do.
 */
public final class Placement<C extends Placement.Candidate> {
    /** Of many nodes so many are looked at for each copy. */
    static final int SAMPLE_A_COPY = 8;

    /** A node that may take objects. */
    public interface Candidate extends NodeName.Named {
        /** Failure domain, empty when unknown. */
        String zone();

        /** Whether nobody has said yet in which zone it is, but will. */
        boolean awaitsZone();

        /** Bytes that new objects may take. */
        long freeBytes();

        /** The part of new objects, 0 to 1, that the node should be considered for. */
        double willingness();
    }

    /** What candidates are for objects of whose request it is. */
    @FunctionalInterface
    public interface Room<C extends Candidate> {
        /** Whether a new object of this size has a place, and a directory slot. */
        boolean isOn(C candidate, long extentBytes);

        /** The part of new objects, 0 to 1, that the candidate should be considered for. */
        default double willingness(C candidate) {
            return candidate.willingness();
        }
    }

    private final List<C> candidates;
    private final Room<C> room;
    private final List<C> preferred;
    private final List<String> notFound = new ArrayList<>();
    private final RandomGenerator random;
    private int zones;

    /**
     * Begins a request.
     *
     * @param preferred names of the nodes that the writer prefers, the best first; what means no candidate is passed over
     */
    public Placement(List<C> candidates, Room<C> room, List<String> preferred, RandomGenerator random) {
        this.candidates = candidates;
        this.room = room;
        this.preferred = new ArrayList<>(preferred.size());
        this.random = random;
        for (String name : preferred) {
            C named = NodeName.find(candidates, name);
            if (named == null) {
                notFound.add(name);
            } else if (!this.preferred.contains(named)) {
                this.preferred.add(named);
            }
        }
    }

    public List<C> candidates() {
        return candidates;
    }

    /** Of the preferred names those that mean no candidate. */
    public List<String> notFound() {
        return notFound;
    }

    /**
     * Chooses different nodes for the copies of one object.
     *
     * @return at most {@code replicas} nodes; fewer when fewer have room, empty when none has
     */
    public List<C> choose(long extentBytes, int replicas) {
        int few = SAMPLE_A_COPY * replicas;
        if (candidates.size() > 2 * few) {
            Choice<C> choice = new Choice<>(sample(few), room, extentBytes, replicas, preferred, random);
            choice.fill(choice.willing, replicas);
            if (choice.chosen.size() == replicas && areInAsManyZonesAsCanBe(choice.chosen)) {
                return choice.chosen;
            }
        }
        Choice<C> choice = new Choice<>(candidates, room, extentBytes, replicas, preferred, random);
        choice.fill(choice.willing, replicas);
        choice.fill(choice.others, replicas);
        choice.fill(choice.anywhere, replicas);
        return choice.chosen;
    }

    /** The preferred nodes and others, each but once, every set of them as likely as any other (Floyd's way). */
    private List<C> sample(int size) {
        List<C> sample = new ArrayList<>(size + 1);
        Set<Integer> drawn = HashSet.newHashSet(size);
        for (int end = candidates.size() - size; end < candidates.size(); end++) {
            int at = random.nextInt(end + 1);
            int place = drawn.add(at) ? at : end;
            drawn.add(place);
            sample.add(candidates.get(place));
        }
        for (C each : preferred) {
            if (!sample.contains(each)) {
                sample.add(each);
            }
        }
        return sample;
    }

    private boolean areInAsManyZonesAsCanBe(List<C> chosen) {
        int theirs = zones(chosen);
        if (theirs == chosen.size()) {
            return true;
        }
        if (zones == 0) {
            zones = zones(candidates);
        }
        return theirs >= zones;
    }

    private static int zones(List<? extends Candidate> candidates) {
        Set<String> zones = new HashSet<>();
        candidates.forEach(candidate -> zones.add(candidate.zone()));
        return zones.size();
    }

    /** Among some of the candidates, for one object. */
    private static final class Choice<C extends Candidate> {
        private final Room<C> room;
        private final List<C> willing = new ArrayList<>();
        private final List<C> others = new ArrayList<>();
        private final List<C> anywhere = new ArrayList<>();
        private final List<C> chosen = new ArrayList<>();
        private final RandomGenerator random;

        Choice(List<C> among, Room<C> room, long extentBytes, int replicas, List<C> preferred, RandomGenerator random) {
            this.room = room;
            this.random = random;
            for (C candidate : preferred) {
                boolean waits = replicas > 1 && candidate.awaitsZone();
                boolean takes = room.isOn(candidate, extentBytes) && room.willingness(candidate) > 0;
                if (takes && !waits && chosen.size() < replicas) {
                    chosen.add(candidate);
                }
            }
            for (C candidate : among) {
                if (chosen.contains(candidate) || !room.isOn(candidate, extentBytes)) {
                    continue;
                }
                if (replicas > 1 && candidate.awaitsZone()) {
                    anywhere.add(candidate);
                } else {
                    consider(candidate);
                }
            }
        }

        private void consider(C candidate) {
            double willingness = room.willingness(candidate);
            if (willingness >= 1 || random.nextDouble() < willingness) {
                willing.add(candidate);
            } else {
                others.add(candidate);
            }
        }

        void fill(List<C> from, int replicas) {
            while (chosen.size() < replicas && !from.isEmpty()) {
                List<C> elsewhere = inNewZones(from);
                List<C> drawn = elsewhere.isEmpty() ? from : elsewhere;
                C next = drawn.get(emptierOfTwo(drawn));
                from.remove(next);
                chosen.add(next);
            }
        }

        private List<C> inNewZones(List<C> from) {
            if (chosen.isEmpty()) {
                return from;
            }
            Set<String> zones = new HashSet<>();
            chosen.forEach(candidate -> zones.add(candidate.zone()));
            List<C> elsewhere = new ArrayList<>(from);
            elsewhere.removeIf(candidate -> zones.contains(candidate.zone()));
            return elsewhere;
        }

        private int emptierOfTwo(List<? extends Candidate> drawn) {
            int first = random.nextInt(drawn.size());
            int second = random.nextInt(drawn.size());
            return drawn.get(first).freeBytes() >= drawn.get(second).freeBytes() ? first : second;
        }
    }
}
