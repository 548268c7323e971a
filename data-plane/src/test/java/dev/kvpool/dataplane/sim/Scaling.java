// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Changes which storage nodes the pool has: more, fewer, others in their place. A node that is taken out keeps its memory, and may be
 * taken in again with what was there, long after the others have removed it.
 */
final class Scaling {
    private static final long TOLD_MS_MAX = 3_000;
    private static final long ENDS_MS_MAX = 6_000;

    private final World world;
    private final Truth truth;
    private final Tally tally;
    private final List<SimMaster> masters;
    private final List<SimNode> nodes;
    private final long stepMs;
    private boolean over;

    /**
     * Nothing changes yet.
     *
     * @param nodes storage nodes, those that are out as well
     * @param stepMs the longest time between two changes
     */
    Scaling(World world, Truth truth, Tally tally, List<SimMaster> masters, List<SimNode> nodes, long stepMs) {
        this.stepMs = stepMs;
        this.world = world;
        this.truth = truth;
        this.tally = tally;
        this.masters = masters;
        this.nodes = nodes;
    }

    /** Ids of the nodes that the pool is to have. */
    Set<String> expected() {
        Set<String> ids = new TreeSet<>();
        within(true).forEach(node -> ids.add(node.nodeId()));
        return ids;
    }

    private List<SimNode> within(boolean in) {
        return new ArrayList<>(nodes.stream().filter(node -> node.isOut() != in).toList());
    }

    void begin() {
        world.in(world.between(stepMs / 4, stepMs), () -> {
            if (!over) {
                change();
                begin();
            }
        });
    }

    private void change() {
        List<SimNode> in = within(true);
        List<SimNode> out = within(false);
        switch (world.random.nextInt(3)) {
            case 0 -> takeIn(some(out, out.size()));
            case 1 -> takeOut(some(in, in.size() - 1));
            default -> {
                List<SimNode> others = some(out, in.size());
                takeIn(others);
                takeOut(some(in, others.size()));
            }
        }
        tell(TOLD_MS_MAX);
    }

    private List<SimNode> some(List<SimNode> nodes, int atMost) {
        List<SimNode> some = new ArrayList<>();
        int count = Math.min(nodes.size(), atMost) == 0 ? 0 : 1 + world.random.nextInt(Math.min(nodes.size(), atMost));
        while (some.size() < count) {
            some.add(nodes.remove(world.random.nextInt(nodes.size())));
        }
        return some;
    }

    private void takeIn(List<SimNode> some) {
        for (SimNode node : some) {
            tally.count("node taken in");
            world.trace(() -> node + " is taken in");
            node.out(false);
            world.in(world.between(0, ENDS_MS_MAX), () -> {
                if (!node.isOut() && !node.isUp()) {
                    node.start();
                }
            });
        }
    }

    /** As when fewer are wanted at once, or after it was tried to empty it. */
    private void takeOut(List<SimNode> some) {
        for (SimNode node : some) {
            tally.count("node taken out");
            world.trace(() -> node + " is taken out");
            if (world.oneIn(2)) {
                masters.stream()
                        .filter(master -> master.hears() && master.serves())
                        .forEach(master -> master.drain(node.nodeId(), ENDS_MS_MAX));
            }
            truth.takenOut(node);
            node.out(true);
            world.in(world.between(0, ENDS_MS_MAX), () -> {
                if (node.isOut()) {
                    node.crash();
                    truth.takenOut(node);
                }
            });
        }
    }

    private void tell(long withinMs) {
        masters.forEach(master -> world.in(world.between(0, withinMs), () -> master.expect(expected())));
    }

    /** The pool stays as it is now. */
    void end() {
        over = true;
        tell(0);
        within(false).forEach(node -> {
            node.crash();
            truth.takenOut(node);
        });
    }
}
