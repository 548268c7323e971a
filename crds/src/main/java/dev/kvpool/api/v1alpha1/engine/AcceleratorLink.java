// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What carries bytes between NPUs. */
public enum AcceleratorLink {
    /** The network cards of the NPUs. */
    @JsonProperty("RoCE")
    ROCE,
    /** The bus between NPUs, which reaches their memory only. */
    @JsonProperty("HCCS")
    HCCS,
    /** The bus between NPUs, with memory of hosts that is mapped into all of them. */
    @JsonProperty("Fabric")
    FABRIC
}
