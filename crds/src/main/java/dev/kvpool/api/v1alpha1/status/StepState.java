// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/** How far a step is. */
public enum StepState {
    /** Not begun; {@code waitsFor} says why. */
    @JsonProperty("Waiting")
    WAITING,
    /** Under way. */
    @JsonProperty("UnderWay")
    UNDER_WAY,
    /** The storage node could not be emptied in time; it is tried again. */
    @JsonProperty("Leftovers")
    LEFTOVERS,
    /** Nothing is left on the storage node that others do not have. It is removed, or its pod may be evicted. */
    @JsonProperty("Empty")
    EMPTY,
    /** The pod may be evicted: what it holds is on a volume that stays. */
    @JsonProperty("Kept")
    KEPT,
    /** The storage node goes with what is left, as the spec allows. */
    @JsonProperty("Dropped")
    DROPPED,
    /** It did not succeed in its time; {@code waitsFor} says why. Nothing else of the same kind begins before it does. */
    @JsonProperty("Failed")
    FAILED
}
