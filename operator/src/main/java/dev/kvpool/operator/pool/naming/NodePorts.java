// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import java.util.List;

/**
 * Ports that every storage node of a set listens on.
 *
 * @param data for clients
 * @param admin for HTTP
 */
public record NodePorts(int data, int admin) {
    /** Ports a storage set takes from the range of a transfer engine. */
    public static final int EACH = 2;

    /** The pair that begins with a port. */
    public static NodePorts from(int first) {
        return new NodePorts(first, first + 1);
    }

    public boolean meets(NodePorts other) {
        return both().stream().anyMatch(other.both()::contains);
    }

    public boolean isWithin(int from, int count) {
        return both().stream().allMatch(port -> port >= from && port < from + count);
    }

    private List<Integer> both() {
        return List.of(data, admin);
    }
}
