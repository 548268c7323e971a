// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Page size of segments. */
public enum HugePages {
    /** The machine's normal pages. */
    @JsonProperty("None")
    NONE,
    /** Huge pages of 2 MiB. */
    @JsonProperty("2Mi")
    MI_2,
    /** Huge pages of 1 GiB. */
    @JsonProperty("1Gi")
    GI_1
}
