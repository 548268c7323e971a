// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What becomes of connections with storage nodes once certificates are checked. */
public enum Payloads {
    /** TLS as long as they live. */
    @JsonProperty("Encrypted")
    ENCRYPTED,
    /** Keys and values go without encryption from then on; strangers are still kept out. */
    @JsonProperty("Authenticated")
    AUTHENTICATED
}
