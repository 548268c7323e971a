// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.machine.MemoryRoom;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What this machine, or this container, offers a pool. What could not be read is empty: another kernel, or no right.
 *
 * @param lockedBytesMax how much memory this process may lock; {@link Long#MAX_VALUE} is no limit
 * @param openFilesMax files and sockets a process may have open
 * @param hugePages pools of huge pages, smallest pages first
 * @param ephemeralPorts ports that the kernel gives to outgoing connections
 * @param reservedPorts ranges that it leaves out of them
 * @param directory where segments are to be
 * @param room what there is room for in that directory
 */
record Machine(
        OptionalLong lockedBytesMax,
        OptionalLong openFilesMax,
        List<HugePages> hugePages,
        Optional<PortRange> ephemeralPorts,
        List<PortRange> reservedPorts,
        Path directory,
        Optional<MemoryRoom> room) {

    /**
     * Pages of one size.
     *
     * @param pageBytes size of a page
     * @param total pages that the kernel has set aside
     * @param free those of them nobody uses
     */
    record HugePages(long pageBytes, long total, long free) {}

    /** Ports from {@code first} to {@code last}, both included. */
    record PortRange(int first, int last) {
        boolean holds(int port) {
            return first <= port && port <= last;
        }

        @Override
        public String toString() {
            return first == last ? String.valueOf(first) : first + "-" + last;
        }
    }
}
