// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.status.BindingStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.EngineUse;
import dev.kvpool.api.v1alpha1.status.FailoverStatus;
import dev.kvpool.api.v1alpha1.status.LeaderStatus;
import dev.kvpool.api.v1alpha1.status.NullWhenUnknown;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.ReadyCount;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.ScaleStatus;
import dev.kvpool.api.v1alpha1.status.SizingStatus;
import dev.kvpool.api.v1alpha1.status.StepFacts;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.status.VersionStatus;
import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import io.fabric8.generator.annotation.Size;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Objects;

/** What the operator observed of a pool. Values that change all the time are rounded: a calm pool costs no write. */
@JsonClassDescription("What the operator observed of the pool. Values that change all the time are rounded.")
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record KvCachePoolStatus(
        @JsonPropertyDescription("Generation of the spec this status was made from.")
        Long observedGeneration,

        @JsonPropertyDescription("The pool in one word.") @NullWhenUnknown
        PoolPhase phase,

        @JsonPropertyDescription("The pool in one sentence: what is wrong and what the operator does about it.")
        @Size(max = Condition.MESSAGE_LENGTH_MAX)
        String message,

        @JsonPropertyDescription("Conditions by type; their reasons are listed in the operator's documentation.")
        @Size(max = 16)
        List<Condition> conditions,

        @JsonPropertyDescription("The leading master. Absent while none leads.")
        LeaderStatus leader,

        @JsonPropertyDescription("The last change of leaders. Absent before the first one.")
        FailoverStatus lastFailover,

        @JsonPropertyDescription("Masters.") ReadyCount masters,
        @JsonPropertyDescription("Storage nodes.") ReadyCount storage,

        @JsonPropertyDescription("Agents. Absent when the transfer engine asks for none.")
        ReadyCount agents,

        @JsonPropertyDescription("Bytes all storage nodes in the pool can hold.")
        Quantity capacity,

        @JsonPropertyDescription("Bytes in use, rounded.") Quantity used,

        @JsonPropertyDescription("Objects in the pool, rounded to two digits.")
        Long objects,

        @JsonPropertyDescription("Objects that cannot be read, since all nodes that hold them are away, rounded to two"
                + " digits. Absent when there are none.")
        Long unavailableObjects,

        @JsonPropertyDescription(
                "Objects with fewer copies than they should have, unavailable ones included, rounded to"
                        + " two digits. Absent when there are none, or next to none.")
        Long underReplicatedObjects,

        @JsonPropertyDescription("Versions.") VersionStatus version,

        @JsonPropertyDescription("The upgrade that is under way, blocked or failed. Absent when there is none.")
        RollStatus roll,

        @JsonPropertyDescription(
                "What is done to masters and storage nodes now, and what waits, in order. Absent when there is nothing.")
        @Size(max = StepStatus.STEPS_MAX)
        List<StepStatus> steps,

        @JsonPropertyDescription("What the operator compares to find out whether steps are done. Not for people.")
        @Size(max = StepStatus.STEPS_MAX)
        List<StepFacts> stepFacts,

        @JsonPropertyDescription("The set that spec.replicas is for. Absent when there is none.")
        ScaleStatus scale,

        @JsonPropertyDescription("Protocols that every ready storage node offers.") @Size(max = 8)
        List<String> protocols,

        @JsonPropertyDescription("How engines bind the pool by servicebinding.io.")
        BindingStatus binding,

        @JsonPropertyDescription("How much memory the pods get, and why.")
        SizingStatus sizing,

        @JsonPropertyDescription(
                "Storage nodes by the transfer engine they use. Absent when no storage set names one of its own.")
        @Size(max = StorageSetSpec.SETS_MAX)
        List<EngineUse> engines) {

    public static final KvCachePoolStatus EMPTY = new KvCachePoolStatus(
            null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
            null, null, null, null, null);

    public KvCachePoolStatus {
        conditions = conditions == null
                ? List.of()
                : conditions.stream().filter(Condition::isKnown).toList();
        lastFailover = lastFailover == null || lastFailover.cause() == null ? null : lastFailover;
        steps = StepStatus.known(steps, stepFacts);
        stepFacts =
                steps.stream().map(StepStatus::before).filter(Objects::nonNull).toList();
        protocols = protocols == null ? List.of() : List.copyOf(protocols);
        engines = engines == null ? List.of() : List.copyOf(engines);
    }
}
