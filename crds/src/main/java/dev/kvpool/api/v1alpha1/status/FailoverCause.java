// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Why another master came to lead. */
public enum FailoverCause {
    /** The leader's process ended; the others were told and took over at once. */
    @JsonProperty("LeaderDied")
    LEADER_DIED,
    /** The leader gave the leadership away: it was stopped, or told to hand over. */
    @JsonProperty("Handover")
    HANDOVER,
    /** The leader hung, was cut off, or its machine is gone: most storage nodes heard nothing of it, and it did not answer. */
    @JsonProperty("LeaderSilent")
    LEADER_SILENT,
    /** The same, and too few storage nodes were there to tell: its Lease ran out. */
    @JsonProperty("LeaseExpired")
    LEASE_EXPIRED,
    /** The Lease was deleted. */
    @JsonProperty("LeaseDeleted")
    LEASE_DELETED,
    /** The same master leads again, under a new epoch: it renewed its Lease too late. */
    @JsonProperty("LeaderLapsed")
    LEADER_LAPSED
}
