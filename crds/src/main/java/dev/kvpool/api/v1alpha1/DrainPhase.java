// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** How far a storage node that is to go or to be made anew, or lies on a cordoned node of the cluster, has been emptied. */
public enum DrainPhase {
    /** Its node of the cluster is cordoned, and it cannot be emptied now. */
    @JsonProperty("Waiting")
    WAITING,
    /** What only it holds is being moved; it takes nothing new. */
    @JsonProperty("Emptying")
    EMPTYING,
    /** Its time is over and something is left; it is tried again. */
    @JsonProperty("Leftovers")
    LEFTOVERS,
    /** Nothing is left that another storage node has not; it goes, is made anew, or its pod may be evicted. */
    @JsonProperty("Empty")
    EMPTY,
    /** It goes with what is left, as the spec allows, or its pod may be evicted with it. */
    @JsonProperty("Dropped")
    DROPPED,
    /** Its pod may be evicted: what it holds lies on a volume of its own and is there again when the pod is. */
    @JsonProperty("Kept")
    KEPT,
    /** It shall stay after all. */
    @JsonProperty("Cancelled")
    CANCELLED,
    /** Its pod has left the cordoned node, or was made anew; it takes part again. */
    @JsonProperty("Back")
    BACK
}
