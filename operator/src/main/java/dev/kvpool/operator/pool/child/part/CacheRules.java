// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.cache.CacheSpec;
import dev.kvpool.api.v1alpha1.security.TenantSpec;
import dev.kvpool.operator.duration.ApiDuration;
import dev.kvpool.operator.pool.naming.ByteAmount;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The rules of a pool's cache as masters read them, at their start and whenever they change.
 *
 * @param values by the names of the masters' flags, in a fixed order
 * @param quotas those of tenants, as the masters' flag has them; empty when no tenant has one. They are in the file only: a variable for
 *     them in the pods of masters would replace these when the first tenant gets one
 */
public record CacheRules(Map<String, String> values, String quotas) {
    private static final int DIGEST_BYTES = 8;

    public static CacheRules of(KvCachePoolSpec spec) {
        CacheSpec cache = spec.cache();
        Map<String, String> values = new LinkedHashMap<>();
        values.put("object-lease", ApiDuration.flag(cache.objectLease()));
        values.put("eviction-high-watermark", share(cache.eviction().highWatermarkPercent()));
        values.put("eviction-low-watermark", share(cache.eviction().lowWatermarkPercent()));
        values.put("takeover-reserve", share(cache.takeoverReservePercent()));
        values.put("soft-pin-ttl", ApiDuration.flag(cache.softPin().ttl()));
        values.put("allow-evict-soft-pinned", cache.softPin().evict().toString());
        values.put("replicas", cache.replicas().toString());
        values.put("repair-delay", ApiDuration.flag(cache.repair().delay()));
        values.put("repair-rate", Long.toString(ByteAmount.bytes(cache.repair().rate())));
        values.put("consistency", cache.consistency().name().toLowerCase(Locale.ROOT));
        return new CacheRules(values, quotas(spec.tenants()));
    }

    private static String quotas(List<TenantSpec> tenants) {
        return tenants.stream()
                .map(tenant -> amounts(tenant).map(amounts -> tenant.name() + amounts))
                .flatMap(Optional::stream)
                .collect(Collectors.joining(","));
    }

    private static Optional<String> amounts(TenantSpec tenant) {
        StringBuilder amounts = new StringBuilder();
        if (tenant.bytes() != null && tenant.bytes().guaranteed() != null) {
            amounts.append(":guaranteed=")
                    .append(ByteAmount.bytes(tenant.bytes().guaranteed()));
        }
        if (tenant.bytes() != null && tenant.bytes().ceiling() != null) {
            amounts.append(":ceiling=").append(ByteAmount.bytes(tenant.bytes().ceiling()));
        }
        if (tenant.objects() != null && tenant.objects().ceiling() != null) {
            amounts.append(":objects=").append(tenant.objects().ceiling());
        }
        return amounts.isEmpty() ? Optional.empty() : Optional.of(amounts.toString());
    }

    /** As masters take it: a part of one. */
    private static String share(int percent) {
        return BigDecimal.valueOf(percent, 2).stripTrailingZeros().toPlainString();
    }

    /** The file of cache rules: a line for each, and a last one by which masters see that it is whole. */
    public String text() {
        return values.entrySet().stream()
                .map(rule -> rule.getKey() + "=" + rule.getValue())
                .collect(Collectors.joining(
                        "\n", "", quotas.isEmpty() ? "\nend\n" : "\ntenant-quotas=" + quotas + "\nend\n"));
    }

    /** By which masters name the file they go by: the first 16 hexadecimal digits of its SHA-256. */
    public String digest() {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
