// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * Some nodes go away, and when they come back all others are away, for so long that a new leader goes on without them. What was removed or
 * replaced meanwhile only those know that are away now, and the register says that they do.
 */
final class SidesChange {
    private static final long FIRST_MS_MAX = 6_000;
    private static final long SECOND_MS_MIN = 2_000;
    private static final long SECOND_MS_MAX = 30_000;
    private static final long MASTERS_MS_MAX = 500;

    private final World world;
    private final Tally tally;
    private final List<SimMaster> masters;
    private final List<SimNode> nodes;
    private final long renewDeadlineMs;
    private boolean over;

    /** @param renewDeadlineMs how long a leader goes on that cannot reach the Lease */
    SidesChange(World world, Tally tally, List<SimMaster> masters, List<SimNode> nodes, long renewDeadlineMs) {
        this.world = world;
        this.tally = tally;
        this.masters = masters;
        this.nodes = nodes;
        this.renewDeadlineMs = renewDeadlineMs;
    }

    void begin() {
        List<SimNode> stay =
                new ArrayList<>(nodes.stream().filter(node -> !node.isOut()).toList());
        List<SimNode> leave = new ArrayList<>();
        while (stay.stream().filter(node -> !node.isTransient).count() > 1 && (leave.isEmpty() || world.oneIn(2))) {
            SimNode node = stay.get(world.random.nextInt(stay.size()));
            if (!node.isTransient) {
                stay.remove(node);
                leave.add(node);
            }
        }
        if (leave.isEmpty()) {
            return;
        }
        tally.count("sides changed");
        boolean unwritten = world.oneIn(2);
        if (unwritten) {
            // That they are away reaches no register: nothing may be acknowledged which they miss.
            masters.forEach(master -> master.election.access().cut(true));
        }
        leave.forEach(SimProcess::crash);
        world.in(world.between(300, unwritten ? renewDeadlineMs : FIRST_MS_MAX), () -> change(leave, stay));
    }

    private void change(List<SimNode> back, List<SimNode> away) {
        if (over) {
            return;
        }
        world.trace(() -> back + " come back, " + away + " go away");
        long forMs = world.between(SECOND_MS_MIN, SECOND_MS_MAX);
        for (SimMaster master : masters) {
            master.crash();
            master.election.access().cut(false);
            startIn(world.between(0, MASTERS_MS_MAX), master);
        }
        for (SimNode node : away) {
            if (node.isTransient) {
                node.freeze(forMs);
            } else {
                node.crash();
                startIn(forMs, node);
            }
        }
        back.forEach(node -> startIn(0, node));
    }

    void end() {
        over = true;
    }

    private void startIn(long ms, SimProcess process) {
        world.in(ms, () -> {
            if (!process.isUp() && !(process instanceof SimNode node && node.isOut())) {
                process.start();
            }
        });
    }
}
