// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.pod;

import com.fasterxml.jackson.annotation.JsonProperty;

/** When the kubelet pulls an image. */
public enum ImagePullPolicy {
    /** At every start of a container. */
    @JsonProperty("Always")
    ALWAYS,
    /** When the node does not have it. */
    @JsonProperty("IfNotPresent")
    IF_NOT_PRESENT,
    /** Never: the image must be on the node. */
    @JsonProperty("Never")
    NEVER
}
