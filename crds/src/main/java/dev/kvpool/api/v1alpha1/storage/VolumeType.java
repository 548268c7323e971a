// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.storage;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Where a segment file lies. */
public enum VolumeType {
    /** Memory of the pod. */
    @JsonProperty("emptyDir")
    EMPTY_DIR,
    /** A directory of the node that the pod is on, which outlives it. */
    @JsonProperty("hostPath")
    HOST_PATH,
    /** A volume of the pod's own, which outlives it. */
    @JsonProperty("persistentVolumeClaim")
    PERSISTENT_VOLUME_CLAIM
}
