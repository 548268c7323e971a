// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Whether a condition holds. */
public enum ConditionStatus {
    /** It holds. */
    @JsonProperty("True")
    TRUE,
    /** It does not hold. */
    @JsonProperty("False")
    FALSE,
    /** It could not be found out. */
    @JsonProperty("Unknown")
    UNKNOWN
}
