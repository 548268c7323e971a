// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What a segment is made of. */
public enum Medium {
    /** Host memory. */
    @JsonProperty("DRAM")
    DRAM
}
