// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Who says how many objects a pool will hold. */
public enum ExpectationSource {
    /** The spec. */
    @JsonProperty("Spec")
    SPEC,
    /** The pool: how large it is, and how many it has held. */
    @JsonProperty("Pool")
    POOL
}
