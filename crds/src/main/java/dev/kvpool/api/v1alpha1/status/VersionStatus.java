// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Size;

/** Product versions of a pool. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record VersionStatus(
        @JsonPropertyDescription("What the masters report; several versions are separated by a comma.") @Size(max = 512)
        String running,

        @JsonPropertyDescription("What the spec asks for. Absent when it names an image and no version.")
        @Size(max = 64)
        String desired,

        @JsonPropertyDescription("The image that all of the pool ran last; a failed upgrade goes back to it.")
        @Size(max = 512)
        String lastStable,

        @JsonPropertyDescription(
                "The version of the wire protocol that the pool speaks. It is raised when an upgrade is finished, and never"
                        + " lowered: a version that does not speak it is refused.")
        Integer activeWire,

        @JsonPropertyDescription(
                "The layout in which storage nodes write their segments, raised like activeWire. A version that does not"
                        + " read it needs storage nodes to be emptied first.")
        Integer activeLayout,

        @JsonPropertyDescription(
                "What the pool is about to change to. Absent when there is nothing higher that all connected processes know."
                        + " Until it has, spec.version can be set back without emptying a storage node.")
        PendingVersions pending) {}
