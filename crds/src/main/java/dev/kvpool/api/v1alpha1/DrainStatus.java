// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Quantity;

/** A storage node that is to go, to be made anew or lies on a cordoned node of the cluster, or was until a moment ago: all the operator knows of it. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DrainStatus(
        @JsonPropertyDescription("Id of the storage node.") @Required @Size(max = StorageSetSpec.NODE_ID_LENGTH_MAX)
        String node,

        @JsonPropertyDescription("How far it is.") @Required DrainPhase phase,

        @JsonPropertyDescription("When it was decided; for a cancelled one, when that was.") @Required @Size(max = 32)
        String since,

        @JsonPropertyDescription("Objects that only it holds, rounded to two digits. Absent while nobody can tell.")
        Long objectsLeft,

        @JsonPropertyDescription("Their bytes, rounded.") Quantity bytesLeft,

        @JsonPropertyDescription("What it waits for, or why something is left.") @Size(max = REASON_LENGTH_MAX)
        String reason,

        @JsonPropertyDescription(
                "Node of the cluster it is on, where it is emptied because that is cordoned. Absent where the spec does not"
                        + " want it any more.")
        @Size(max = 253)
        String cordonedNode,

        @JsonPropertyDescription(
                "True where it comes back, with the present settings, once it is empty. Absent for all others.")
        Boolean comesBack,

        @JsonPropertyDescription(
                "The last progress. The time limits of spec.drain count from it. Absent before there was any.")
        DrainProgress progress) {

    /** Storage nodes that are emptied at a time; further ones wait for their turn. */
    public static final int DRAINS_MAX = 64;

    private static final int REASON_LENGTH_MAX = 512;

    /** One that goes, or lies on a cordoned node. */
    public DrainStatus(
            String node,
            DrainPhase phase,
            String since,
            Long objectsLeft,
            Quantity bytesLeft,
            String reason,
            String cordonedNode) {
        this(node, phase, since, objectsLeft, bytesLeft, reason, cordonedNode, null, null);
    }

    public DrainStatus {
        reason =
                reason != null && reason.length() > REASON_LENGTH_MAX ? reason.substring(0, REASON_LENGTH_MAX) : reason;
    }

    public DrainStatus with(DrainProgress other) {
        return new DrainStatus(node, phase, since, objectsLeft, bytesLeft, reason, cordonedNode, comesBack, other);
    }
}
