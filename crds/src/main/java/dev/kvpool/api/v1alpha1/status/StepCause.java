// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Why a step is taken. The order is the one in which steps begin. */
public enum StepCause {
    /** The Kubernetes node is cordoned, or has a taint that counts as that. */
    @JsonProperty("Cordon")
    CORDON,
    /** A user asked for it: kubectl kvpool drain, or failover. */
    @JsonProperty("Request")
    REQUEST,
    /** The pool is rolled back to the image it ran before. */
    @JsonProperty("Rollback")
    ROLLBACK,
    /** The pool is upgraded to another image. */
    @JsonProperty("Upgrade")
    UPGRADE,
    /** The pod was made with other settings than the spec has now. */
    @JsonProperty("Settings")
    SETTINGS,
    /** The spec does not want the master or storage node any more. */
    @JsonProperty("ScaleDown")
    SCALE_DOWN;

    /** What is emptied for it stays a storage node of the pool. */
    public boolean isOfPlace() {
        return this == CORDON || this == REQUEST;
    }

    /** It brings pods to another image. */
    public boolean isImage() {
        return this == UPGRADE || this == ROLLBACK;
    }
}
