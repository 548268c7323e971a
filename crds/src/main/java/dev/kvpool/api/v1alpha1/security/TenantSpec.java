// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.security;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** A user of the pool, and where masters sign, the ServiceAccounts of its engines. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record TenantSpec(
        @JsonPropertyDescription("Name of the tenant, unique in the pool, such as the name of a team.")
        @Required
        @ValidationRule(
                value = "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
                message =
                        "the name of a tenant must consist of lower case letters, digits and '-', and neither begin nor end"
                                + " with '-'")
        @Size(min = 1, max = NAME_LENGTH_MAX)
        String name,

        @JsonPropertyDescription(
                "What its engines may do. With security.certificates.source Directory, without trustDomain, their certificates say it:"
                        + " tenant/TENANT/rw/NAME or ro.")
        @Default("ReadWrite")
        TenantAccess access,

        @JsonPropertyDescription(
                "ServiceAccounts whose pods get certificates of this tenant. Who may create pods with one of them is the tenant. Each tenant needs"
                        + " some, but none with security.certificates.source Directory without trustDomain, where the name in a certificate says the"
                        + " tenant.")
        @Size(min = 1, max = ACCOUNTS_MAX)
        List<ServiceAccountName> serviceAccounts,

        @JsonPropertyDescription("What the tenant may have of the pool's room, and what others leave it.")
        TenantBytes bytes,

        @JsonPropertyDescription("How many objects the tenant may have.")
        TenantObjects objects) {

    public static final int NAME_LENGTH_MAX = 63;

    /** The one of a pool that names no tenants. */
    public static final String DEFAULT = "default";

    /** Of a pool. */
    public static final int TENANTS_MAX = 64;

    /** Of a tenant. */
    public static final int ACCOUNTS_MAX = 32;

    public TenantSpec {
        access = access == null ? TenantAccess.READ_WRITE : access;
        serviceAccounts = serviceAccounts == null ? List.of() : List.copyOf(serviceAccounts);
    }
}
