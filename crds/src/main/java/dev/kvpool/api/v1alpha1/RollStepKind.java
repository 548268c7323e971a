// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What is done in a step of an upgrade. */
public enum RollStepKind {
    /** The container is started anew with the other image, in its pod. */
    @JsonProperty("Restart")
    RESTART,
    /** The leader gives the leadership to a master that has gone over. */
    @JsonProperty("HandOver")
    HAND_OVER,
    /** The storage node is emptied. */
    @JsonProperty("Drain")
    DRAIN,
    /** The emptied storage node's pod is made anew with the other image. */
    @JsonProperty("Replace")
    REPLACE
}
