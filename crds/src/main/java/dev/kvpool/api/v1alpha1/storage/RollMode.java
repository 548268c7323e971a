// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What becomes of the objects of a storage node that is upgraded to another version. */
public enum RollMode {
    /** The new version reads the segment the old one has written. */
    @JsonProperty("Warm")
    WARM,
    /** The new version cannot read it: the node is emptied before. */
    @JsonProperty("Drained")
    DRAINED
}
