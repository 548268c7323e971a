// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What must be at a path of the host. */
public enum HostFileType {
    /** A regular file. */
    @JsonProperty("File")
    FILE,
    /** A directory. */
    @JsonProperty("Directory")
    DIRECTORY
}
