// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** Connections between processes, with delays and partitions. */
final class Network {
    private static final int PROCESSES_MAX = 64;
    private static final long CONNECT_TIMEOUT_MS = 3_000;

    final World world;
    final int driftPpm;
    private final Map<String, SimProcess> listeners = new TreeMap<>();
    private final List<SimProcess> processes = new ArrayList<>();
    private final boolean[][] blocked = new boolean[PROCESSES_MAX][PROCESSES_MAX];

    /** When bytes to or from a process were blocked, or healed, last. */
    private final long[] partitionedMs = new long[PROCESSES_MAX];

    private long lastEnd;
    private boolean bad;
    private boolean peersAreSlow = true;
    private boolean garbling;
    private BiConsumer<End, byte[]> tap = (from, frame) -> {};

    /** @param driftPpm how much clocks of processes may go wrong */
    Network(World world, int driftPpm) {
        this.world = world;
        this.driftPpm = driftPpm;
    }

    int add(SimProcess process) {
        processes.add(process);
        return processes.size() - 1;
    }

    void listen(String address, SimProcess process) {
        listeners.put(address, process);
    }

    /** Whether messages are slow now and then. */
    void bad(boolean on) {
        bad = on;
    }

    /** Whether bytes change on the way now and then. */
    void garbling(boolean on) {
        garbling = on;
    }

    boolean garbles(int onceIn) {
        return garbling && world.oneIn(onceIn);
    }

    /** From now on that hears each frame as it is sent. */
    void tap(BiConsumer<End, byte[]> hears) {
        tap = hears;
    }

    void sends(End from, byte[] frame) {
        tap.accept(from, frame);
    }

    /** Whether some read or write payloads as slowly as they like. */
    boolean peersAreSlow() {
        return peersAreSlow;
    }

    void quickenPeers() {
        peersAreSlow = false;
        processes.forEach(process -> process.ends().forEach(end -> end.slow(0)));
    }

    /** Who listens at an address, dead or alive, when bytes get there and back; else null. */
    SimProcess reachable(SimProcess from, String address) {
        SimProcess to = listeners.get(address);
        return to == null || isBlocked(from, to) || isBlocked(to, from) ? null : to;
    }

    long delayMs() {
        if (bad && world.oneIn(400)) {
            return world.between(200, 4_000);
        }
        return world.oneIn(30) ? world.between(0, 40) : world.between(0, 2);
    }

    /** Opens a connection; the dialler hears whether it became one. */
    End dial(SimProcess from, String address) {
        return dialAs(from, address, ++lastEnd);
    }

    /** As {@link #dial}, under a number that the dialler gives. */
    End dialAs(SimProcess from, String address, long number) {
        End end = new End(this, number, from);
        from.attach(end);
        from.in(delayMs(), () -> connect(end, address));
        return end;
    }

    /** The same on one machine, where an address is a path. */
    End dialLocally(SimProcess from, String address, long number) {
        End end = dialAs(from, address, number);
        end.local = true;
        return end;
    }

    private void connect(End end, String address) {
        if (end.isClosed()) {
            return;
        }
        SimProcess to = listeners.get(address);
        if (to != null && (isBlocked(end.owner, to) || isBlocked(to, end.owner))) {
            end.owner.in(CONNECT_TIMEOUT_MS, () -> end.failToOpen("connecting to " + address + " timed out", false));
        } else if (to == null || !to.isUp()) {
            end.failToOpen("nobody listens at " + address, true);
        } else {
            // The kernel of a stopped process accepts; the process hears of it when it goes on.
            End other = new End(this, ++lastEnd, to);
            to.attach(other);
            end.join(other);
        }
    }

    boolean isBlocked(SimProcess from, SimProcess to) {
        return blocked[from.place][to.place];
    }

    /** Bytes from one process to another stay on the way until {@link #heal}. */
    void block(SimProcess from, SimProcess to) {
        world.trace(() -> "nothing gets from " + from + " to " + to);
        blocked[from.place][to.place] = true;
        partitioned(from, to);
    }

    private void partitioned(SimProcess from, SimProcess to) {
        partitionedMs[from.place] = world.nowMs();
        partitionedMs[to.place] = world.nowMs();
    }

    /** Whether bytes get to and from a process, and have since then. */
    boolean isWholeSince(SimProcess process, long ms) {
        return partitionedMs[process.place] < ms
                && processes.stream().noneMatch(other -> isBlocked(process, other) || isBlocked(other, process));
    }

    void heal(SimProcess from, SimProcess to) {
        world.trace(() -> "bytes get from " + from + " to " + to + " again");
        blocked[from.place][to.place] = false;
        partitioned(from, to);
        to.ends().forEach(End::pump);
    }

    void healAll() {
        for (SimProcess from : processes) {
            for (SimProcess to : processes) {
                if (isBlocked(from, to)) {
                    blocked[from.place][to.place] = false;
                    partitioned(from, to);
                }
            }
        }
        processes.forEach(process -> process.ends().forEach(End::pump));
    }
}
