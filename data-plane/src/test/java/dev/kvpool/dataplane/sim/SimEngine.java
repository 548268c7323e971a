// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.nativecore.SegmentMemory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** CANN's engine of one life of a client, and the memory that is registered with it. Addresses are the same in each life. */
final class SimEngine {
    private static final long FIRST_ADDRESS = 0x4000_0000_0000L;
    private static final long ADDRESSES_A_BLOCK = 0x1_0000_0000L;
    private static final long MICROS_A_MS = 1_000;

    /** The most that a node is taken to need until it knows that a connection has ended. */
    private static final long LEARN_MS = 10_000;

    /** Lent to one connection after the other. */
    private static final class Block {
        private final SegmentMemory memory;
        private long lending;

        /** Nodes did not learn in time that these lendings had ended, and all before. */
        private long unknownEnds;

        private Block(SegmentMemory memory) {
            this.memory = memory;
        }
    }

    final SimClient owner;

    /** IP:PORT. */
    final String endpoint;

    private final World world;
    private final long registrationsBefore;
    private final List<Block> blocks = new ArrayList<>();
    private final Map<Long, Integer> lent = new HashMap<>();
    private boolean gone;

    SimEngine(SimClient owner, String endpoint) {
        this.owner = owner;
        this.endpoint = endpoint;
        this.world = owner.world;
        this.registrationsBefore = world.nowMs() * MICROS_A_MS;
    }

    boolean isGone() {
        return gone;
    }

    /** The process has died. */
    void goes() {
        gone = true;
    }

    /** How many pieces of memory are registered. */
    int registered() {
        return blocks.size();
    }

    /** As nodes are told. */
    long registrations() {
        return registrationsBefore + blocks.size();
    }

    /** New memory, registered. Its address. */
    long register(SegmentMemory memory) {
        blocks.add(new Block(memory));
        return FIRST_ADDRESS + (blocks.size() - 1) * ADDRESSES_A_BLOCK;
    }

    SegmentMemory memoryAt(long address) {
        return blocks.get(number(address)).memory;
    }

    /** From now on the memory at an address is that of a connection. */
    void lend(long connection, long address) {
        blocks.get(number(address)).lending++;
        lent.put(connection, number(address));
    }

    /** The connection has ended, which its node is about to learn. */
    void takeBack(End end) {
        Integer number = lent.remove(end.id);
        if (number == null || !(end.peer().owner instanceof SimNode node)) {
            return;
        }
        Block block = blocks.get(number);
        long ended = block.lending;
        world.in(LEARN_MS, () -> {
            if (node.knows(end.peer())) {
                block.unknownEnds = Math.max(block.unknownEnds, ended);
            }
        });
    }

    /** Whether this is inside of one of the first so many pieces of memory. */
    boolean has(int known, long address, long length) {
        int number = number(address);
        return number >= 0
                && number < known
                && at(address) + length <= blocks.get(number).memory.bytes();
    }

    /** Which lending of the memory at an address this is. */
    long lending(long address) {
        return blocks.get(number(address)).lending;
    }

    /** Whether the memory at an address may be touched for what it was lent for then. */
    boolean mayTouch(long address, long lending) {
        Block block = blocks.get(number(address));
        return block.lending == lending || lending <= block.unknownEnds;
    }

    /** Where it is in this process. */
    long real(long address) {
        return blocks.get(number(address)).memory.address() + at(address);
    }

    private static int number(long address) {
        return (int) ((address - FIRST_ADDRESS) / ADDRESSES_A_BLOCK);
    }

    private static long at(long address) {
        return (address - FIRST_ADDRESS) % ADDRESSES_A_BLOCK;
    }
}
