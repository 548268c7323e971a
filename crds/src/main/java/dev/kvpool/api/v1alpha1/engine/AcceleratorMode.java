// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Which pods open NPUs, and how they come by them. */
public enum AcceleratorMode {
    /** Each storage pod requests NPUs of its own from the device plugin. */
    @JsonProperty("Dedicated")
    DEDICATED,
    /** Storage pods open NPUs that other pods use too, and request none. */
    @JsonProperty("Shared")
    SHARED,
    /** Only inference engines open NPUs. */
    @JsonProperty("Embedded")
    EMBEDDED
}
