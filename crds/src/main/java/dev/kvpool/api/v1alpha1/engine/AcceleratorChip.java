// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** A generation of Ascend NPUs. */
public enum AcceleratorChip {
    /** Ascend 910B. */
    @JsonProperty("A2")
    A2,
    /** Ascend 910C. */
    @JsonProperty("A3")
    A3,
    /** Ascend 950. */
    @JsonProperty("A5")
    A5
}
