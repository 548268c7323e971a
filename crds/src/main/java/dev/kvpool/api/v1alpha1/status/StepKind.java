// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What a step does to a master or storage node. */
public enum StepKind {
    /** The leader gives its leadership to another master. */
    @JsonProperty("HandOver")
    HAND_OVER,
    /** The container restarts with another image, in its pod. */
    @JsonProperty("Restart")
    RESTART,
    /** The storage node is emptied: what only it holds is moved to others, and it takes nothing new. */
    @JsonProperty("Empty")
    EMPTY,
    /** The pod is deleted and comes back from the template of its set. */
    @JsonProperty("Replace")
    REPLACE,
    /** The pod of a master goes and does not come back. */
    @JsonProperty("Remove")
    REMOVE,
    /** A storage node that was being emptied takes part again. */
    @JsonProperty("TakeBack")
    TAKE_BACK
}
