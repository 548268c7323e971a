// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What becomes of a storage node that could not be emptied in time. */
public enum LeftoverPolicy {
    /** It stays and is tried again, until everything it holds has another place. */
    @JsonProperty("Wait")
    WAIT,
    /** It goes, and what it still holds is lost. */
    @JsonProperty("Drop")
    DROP
}
