// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.crd.generator.annotation.SchemaFrom;
import io.fabric8.generator.annotation.ValidationRule;
import io.fabric8.kubernetes.api.model.Quantity;

/**
 * Bytes of one tenant: an object counts with all copies that it should have.
 *
 * <p>The schema takes texts only, not numbers: API servers estimate the cost of a rule about a quantity by the largest request, unless
 * the schema bounds its length, which older ones heed for texts alone. By that estimate rules for so many tenants would be refused.
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value =
                "!has(self.guaranteed) || !has(self.ceiling) || !isQuantity(self.guaranteed) || !isQuantity(self.ceiling)"
                        + " || quantity(self.ceiling).compareTo(quantity(self.guaranteed)) >= 0",
        message = "ceiling must not be below guaranteed",
        fieldPath = ".ceiling")
public record TenantBytes(
        @JsonPropertyDescription(
                "As long as the tenant has no more than this, for example 32Gi, eviction takes none of its objects for others."
                        + " Guarantees of all tenants that are more than the pool holds below its low watermark are scaled down."
                        + " A number without a unit needs quotes. Default: nothing is guaranteed.")
        @SchemaFrom(type = String.class)
        @ValidationRule(value = QUANTITY, message = "guaranteed must be a quantity from 1 to 1Pi, for example 64Gi")
        Quantity guaranteed,

        @JsonPropertyDescription(
                "The most that the tenant may have, for example 64Gi. A put that would go beyond evicts the tenant's own objects"
                        + " first, and fails where these are in use or pinned. A number without a unit needs quotes."
                        + " Default: the pool is the limit.")
        @SchemaFrom(type = String.class)
        @ValidationRule(value = QUANTITY, message = "ceiling must be a quantity from 1 to 1Pi, for example 64Gi")
        Quantity ceiling) {

    private static final String QUANTITY = "self.matches('^[0-9]+([.][0-9]+)?([KMGTP]i|[kMGTP])?$') && isQuantity(self)"
            + " && quantity(self).compareTo(quantity('1')) >= 0 && quantity(self).compareTo(quantity('1Pi')) <= 0";
}
