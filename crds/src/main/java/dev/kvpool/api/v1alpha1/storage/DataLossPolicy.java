// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What to do with a change of the spec that loses cached bytes. */
public enum DataLossPolicy {
    /** Hold the change back and say what would be lost. */
    @JsonProperty("Wait")
    WAIT,
    /** Empty each storage node concerned first, one at a time, then carry the change out there. */
    @JsonProperty("Move")
    MOVE,
    /** Carry it out. */
    @JsonProperty("Replace")
    REPLACE;

    /** What becomes of one pod: the change is carried out where nothing would be lost with it. */
    public DataLossPolicy unless(boolean nothingIsLost) {
        return nothingIsLost ? REPLACE : this;
    }

    /** Whether bytes that have no other place may be lost. */
    public boolean mayLoseBytes() {
        return this == REPLACE;
    }
}
