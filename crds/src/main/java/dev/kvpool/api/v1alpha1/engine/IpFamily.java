// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonProperty;

/** An IP family. */
public enum IpFamily {
    /** IP version 4. */
    @JsonProperty("IPv4")
    IPV4,
    /** IP version 6. */
    @JsonProperty("IPv6")
    IPV6
}
