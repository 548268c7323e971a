// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/** How far an upgrade is. */
public enum RollPhase {
    /** A Job with the new image asks whether the pool can be upgraded to it. */
    @JsonProperty("Preflight")
    PREFLIGHT,
    /** Masters, then storage nodes, are upgraded one by one. */
    @JsonProperty("Rolling")
    ROLLING,
    /** Everything runs the new image; from now on it is the one to go back to. */
    @JsonProperty("Finalising")
    FINALISING,
    /** A step failed, or the spec was changed back: what was upgraded goes back. */
    @JsonProperty("GoingBack")
    GOING_BACK,
    /** The new image does not fit the pool. Nothing was restarted. */
    @JsonProperty("Blocked")
    BLOCKED,
    /** The pool runs what it ran before, and the new image is not tried again. */
    @JsonProperty("Failed")
    FAILED
}
