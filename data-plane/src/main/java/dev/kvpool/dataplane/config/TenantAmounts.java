// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What a setting says of one tenant.
 *
 * @param guaranteedBytes 0 when it does not say
 * @param ceilingBytes {@link Long#MAX_VALUE} when it does not say
 * @param ceilingObjects the same
 */
public record TenantAmounts(long guaranteedBytes, long ceilingBytes, long ceilingObjects) {
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");
    private static final int TENANTS_MAX = 256;
    private static final String GUARANTEED = "guaranteed";
    private static final String CEILING = "ceiling";
    private static final String OBJECTS = "objects";
    private static final List<String> AMOUNTS = List.of(GUARANTEED, CEILING, OBJECTS);

    /** Those of tenants by name; empty text for none. */
    static final Format<Map<String, TenantAmounts>> BY_NAME = new Format<>(
            "QUOTAS",
            "NAME:guaranteed=SIZE:ceiling=SIZE:objects=N for each tenant, at least one amount of each and the ceiling not below the"
                    + " guarantee, separated by commas; or nothing",
            TenantAmounts::parse);

    private static Map<String, TenantAmounts> parse(String text) {
        Map<String, TenantAmounts> byName = new TreeMap<>();
        if (text.isEmpty()) {
            return byName;
        }
        for (String one : text.split(",", -1)) {
            String[] parts = one.strip().split(":", -1);
            if (!NAME.matcher(parts[0]).matches()) {
                throw new IllegalArgumentException("'" + parts[0] + "' is no name of a tenant");
            }
            if (byName.put(parts[0], amounts(parts)) != null) {
                throw new IllegalArgumentException("tenant " + parts[0] + " is named for the second time");
            }
        }
        if (byName.size() > TENANTS_MAX) {
            throw new IllegalArgumentException(
                    byName.size() + " tenants; at most " + TENANTS_MAX + " may have a quota");
        }
        return byName;
    }

    private static TenantAmounts amounts(String[] parts) {
        String tenant = parts[0];
        Map<String, Long> given = new LinkedHashMap<>();
        for (int i = 1; i < parts.length; i++) {
            int equals = parts[i].indexOf('=');
            String what = equals < 0 ? parts[i] : parts[i].substring(0, equals);
            if (equals < 0 || given.put(what, amount(tenant, what, parts[i].substring(equals + 1))) != null) {
                throw new IllegalArgumentException("'" + parts[i] + "' of tenant " + tenant
                        + (equals < 0 ? " has no amount" : " is there for the second time"));
            }
        }
        if (given.isEmpty()) {
            throw new IllegalArgumentException("tenant " + tenant + " has no amount");
        }
        TenantAmounts amounts = new TenantAmounts(
                given.getOrDefault(GUARANTEED, 0L),
                given.getOrDefault(CEILING, Long.MAX_VALUE),
                given.getOrDefault(OBJECTS, Long.MAX_VALUE));
        if (amounts.ceilingBytes < amounts.guaranteedBytes) {
            throw new IllegalArgumentException("the ceiling of tenant " + tenant + " is below its guarantee");
        }
        return amounts;
    }

    private static long amount(String tenant, String what, String text) {
        if (!AMOUNTS.contains(what)) {
            throw new IllegalArgumentException("tenant " + tenant + " has no '" + what + "'; there are " + AMOUNTS);
        }
        long amount;
        try {
            amount = what.equals(OBJECTS) ? Long.parseLong(text) : Sizes.parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("'" + text + "' is no amount of " + what + " for tenant " + tenant, e);
        }
        if (amount < 1) {
            throw new IllegalArgumentException(
                    what + " of tenant " + tenant + " must be above 0; leave it out for none");
        }
        return amount;
    }

    /** As it stands behind the name. */
    @Override
    public String toString() {
        return (guaranteedBytes > 0 ? ":" + GUARANTEED + "=" + guaranteedBytes : "")
                + (ceilingBytes < Long.MAX_VALUE ? ":" + CEILING + "=" + ceilingBytes : "")
                + (ceilingObjects < Long.MAX_VALUE ? ":" + OBJECTS + "=" + ceilingObjects : "");
    }
}
