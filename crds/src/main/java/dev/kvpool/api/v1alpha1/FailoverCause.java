// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Why another master came to lead. */
public enum FailoverCause {
    /** The leader's process ended; the others were told and took over at once. */
    @JsonProperty("LeaderDied")
    LEADER_DIED,
    /** The leader gave the leadership away: it was stopped, or told to hand over. */
    @JsonProperty("Handover")
    HANDOVER,
    /** The leader was silent until its Lease ran out: it hung, was cut off, or its machine is gone. */
    @JsonProperty("LeaseExpired")
    LEASE_EXPIRED,
    /** Somebody deleted the Lease. */
    @JsonProperty("LeaseDeleted")
    LEASE_DELETED,
    /** The same master leads again, under a new epoch: it renewed its Lease too late. */
    @JsonProperty("LeaderLapsed")
    LEADER_LAPSED
}
