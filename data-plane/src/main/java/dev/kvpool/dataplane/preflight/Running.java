// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.preflight;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import java.util.List;

/**
 * What of a pool runs now.
 *
 * @param active what the pool speaks and its nodes write now
 * @param members everybody a process of another build would meet
 */
public record Running(ActiveVersions active, List<Member> members) {
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
     * @param active of a node, what it keeps and writes; {@link ActiveVersions#UNKNOWN} of others
     */
    public record Member(Kind kind, String name, Versions versions, ActiveVersions active) {}

    public Running {
        members = List.copyOf(members);
    }
}
