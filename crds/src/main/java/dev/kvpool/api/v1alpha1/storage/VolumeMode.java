// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonProperty;

/** How the volume of a claim is given to a pod, in the words of Kubernetes. */
public enum VolumeMode {
    /** As a directory of a file system. */
    @JsonProperty("Filesystem")
    FILESYSTEM,
    /** As a bare block device. */
    @JsonProperty("Block")
    BLOCK
}
