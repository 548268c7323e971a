// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What engines of a tenant may do with its objects. */
public enum TenantAccess {
    /** Read, put, replace and remove them. */
    @JsonProperty("ReadWrite")
    READ_WRITE,
    /** Look them up and read them. */
    @JsonProperty("ReadOnly")
    READ_ONLY
}
