// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Where a container gets the accelerator's driver from. */
public enum DriverSource {
    /** The container runtime mounts it (ascend-docker-runtime). */
    @JsonProperty("Runtime")
    RUNTIME,
    /** The operator mounts the host's driver directories, read only. */
    @JsonProperty("Host")
    HOST
}
