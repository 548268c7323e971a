// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;

/** Objects of one tenant. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TenantObjects(
        @JsonPropertyDescription(
                "The most objects that the tenant may have. At this number a put evicts the tenant's own objects first."
                        + " Default: the pool is the limit.")
        @Min(1)
        @Max(CEILING_MAX)
        Long ceiling) {

    /** Far more than the masters of any pool can index. */
    public static final long CEILING_MAX = 1_000_000_000_000L;
}
