// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** How far a storage node that is to go has been emptied. */
public enum DrainPhase {
    /** What only it holds is being moved; it takes nothing new. */
    @JsonProperty("Emptying")
    EMPTYING,
    /** Its time is over and something is left; it is tried again. */
    @JsonProperty("Leftovers")
    LEFTOVERS,
    /** Nothing is left that another storage node has not; it goes. */
    @JsonProperty("Empty")
    EMPTY,
    /** It goes with what is left, as the spec allows. */
    @JsonProperty("Dropped")
    DROPPED,
    /** It shall stay after all. */
    @JsonProperty("Cancelled")
    CANCELLED
}
