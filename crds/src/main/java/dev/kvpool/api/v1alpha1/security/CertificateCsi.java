// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.Map;

/** An inline volume of a CSI driver; it is mounted read-only. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record CertificateCsi(
        @JsonPropertyDescription("Name of the driver, for example csi.cert-manager.io.")
        @Required
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                message = "driver must be the name of a CSI driver: lower case letters, digits, '-' and '.'")
        @Size(min = 1, max = DRIVER_LENGTH_MAX)
        String driver,

        @JsonPropertyDescription(
                "What the driver is told. ${POOL_ID} in a value becomes the id of the pool; what else is in it, such as ${POD_NAME}, is the"
                        + " driver's to read.")
        Map<String, String> volumeAttributes) {
    static final int DRIVER_LENGTH_MAX = 63;

    public CertificateCsi {
        volumeAttributes = volumeAttributes == null ? Map.of() : Map.copyOf(volumeAttributes);
    }
}
