// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import java.util.List;

/**
 * A process that {@code kvpool local} runs.
 *
 * @param name master-K or node-K
 * @param role which subcommand it runs
 * @param port where clients reach it
 * @param jvmOptions options of its JVM
 * @param arguments its subcommand and flags
 */
record ChildSpec(String name, Role role, int port, List<String> jvmOptions, List<String> arguments) {
    enum Role {
        MASTER,
        NODE
    }
}
