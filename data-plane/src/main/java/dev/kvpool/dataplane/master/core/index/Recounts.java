// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.slab.SplitTable;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Nodes whose replicas begin or cease to count: the sums over the published objects follow little by little, since a node
 * may hold millions. Counting an object twice changes nothing, so it does not matter what else happens to it meanwhile.
 */
final class Recounts {
    private record Tour(NodeView node, SplitTable.Tour replicas) {}

    private final ReplicaRecords replicas;
    private final Fates fates;
    private final Deque<Tour> tours = new ArrayDeque<>();

    Recounts(ReplicaRecords replicas, Fates fates) {
        this.replicas = replicas;
        this.fates = fates;
    }

    /** A node counts from now on, or does no more. */
    void begin(NodeView node) {
        end(node);
        tours.add(new Tour(node, node.replicas.tour()));
    }

    /** A node is forgotten. */
    void end(NodeView node) {
        tours.removeIf(tour -> {
            boolean its = tour.node == node;
            if (its) {
                tour.replicas.end();
            }
            return its;
        });
    }

    boolean isDone() {
        return tours.isEmpty();
    }

    /** Looks at about as many replicas. */
    void goOn(int visits) {
        int left = visits;
        while (!tours.isEmpty() && left > 0) {
            SplitTable.Tour tour = tours.peek().replicas;
            left -= tour.goOn(left, replica -> fates.recount(replicas.owner(replica)));
            if (tour.isDone()) {
                tours.remove();
            }
        }
    }
}
