// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.preflight;

import dev.kvpool.dataplane.version.Versions;
import java.util.List;

/**
 * What of a pool runs now.
 *
 * @param poolId identity of the pool
 * @param members everybody a process of another build would meet
 */
public record Running(String poolId, List<Member> members) {
    /** What a member of a pool is. */
    public enum Kind {
        MASTER,
        NODE,
        CLIENT
    }

    /**
     * A process, or several clients of one build.
     *
     * @param name how people know it, such as {@code node demo-default-0}
     */
    public record Member(Kind kind, String name, Versions versions) {}

    public Running {
        members = List.copyOf(members);
    }
}
