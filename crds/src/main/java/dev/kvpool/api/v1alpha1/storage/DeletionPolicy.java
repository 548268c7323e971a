// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What happens to a pool's objects when the pool is deleted. */
public enum DeletionPolicy {
    /** They are deleted, and with them the cached bytes. */
    @JsonProperty("Delete")
    DELETE,
    /** They stay and keep serving; a pool of the same name takes them over. */
    @JsonProperty("Retain")
    RETAIN
}
