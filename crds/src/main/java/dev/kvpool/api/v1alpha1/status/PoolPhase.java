// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/** A pool in one word. */
public enum PoolPhase {
    /** The spec cannot be carried out; nothing was changed. */
    @JsonProperty("Invalid")
    INVALID,
    /** spec.paused is true; the operator changes nothing. */
    @JsonProperty("Paused")
    PAUSED,
    /** The pool has not been ready yet. */
    @JsonProperty("Starting")
    STARTING,
    /** The pool serves, and all of it is there. */
    @JsonProperty("Ready")
    READY,
    /** The pool is upgraded to another version, or goes back. */
    @JsonProperty("Upgrading")
    UPGRADING,
    /** The pool serves, and a change waits because it would lose bytes. */
    @JsonProperty("Waiting")
    WAITING,
    /** The pool serves, and a part of it is missing. */
    @JsonProperty("Degraded")
    DEGRADED,
    /** The pool was ready and does not serve now. */
    @JsonProperty("Unavailable")
    UNAVAILABLE
}
