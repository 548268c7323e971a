// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.cache;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * What becomes of objects of a storage node that was away while objects were removed or replaced, when none is available that knows which:
 * all nodes that keep these tombstones are away, and the master that knew them too is gone.
 */
public enum Consistency {
    /** They are unavailable, and removals fail, until one of these nodes is back, or a person forgets it. */
    @JsonProperty("Strict")
    STRICT,
    /** They are served, though one of them may have been removed or replaced. */
    @JsonProperty("Available")
    AVAILABLE
}
