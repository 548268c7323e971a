// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Whether processes of a pool authenticate each other and encrypt what they send. */
public enum SecurityMode {
    /** Nothing is authenticated or encrypted: any process that reaches the pool's ports may do everything. */
    @JsonProperty("Off")
    OFF,
    /** Members of the pool use TLS, and engines may; plain peers may still do everything. For the time of a change. */
    @JsonProperty("Permissive")
    PERMISSIVE,
    /** TLS only, and each peer may do what its certificate says. */
    @JsonProperty("Required")
    REQUIRED;

    /** Whether processes have certificates. */
    public boolean isOn() {
        return this != OFF;
    }
}
