// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonProperty;

/** Who makes the certificates of a pool. */
public enum CertificateSource {
    /** The operator makes a certificate authority, and masters sign for all that show a token. */
    @JsonProperty("Operator")
    OPERATOR,
    /** Others fill a directory of each pod, such as cert-manager. */
    @JsonProperty("Directory")
    DIRECTORY
}
