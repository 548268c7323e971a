// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What tenants may lose for each other at one moment. One that would have less than its guarantee loses nothing. Of the others those go
 * first that are furthest above theirs: as if all were poured off to one level. Guarantees that are more than there is are scaled down to
 * it, each by the same part. Where engines alone have memory, no tenant takes anything of another's, and each has as much of its guarantee
 * as its own engines lend.
 */
public final class Guarantees {
    private final TenantAccounts accounts;
    private final Map<String, Long> floors = new HashMap<>();

    /** What is above it by more than this goes first. */
    private final long level;

    /**
     * For one eviction.
     *
     * @param roomBytes what can be guaranteed at all of the memory that tenants share; 0 when they share none
     * @param ownBytes what there is of memory that may hold objects of one tenant only, by its name
     * @param bytesToLose how much has to go
     */
    public Guarantees(
            Quotas quotas, TenantAccounts accounts, long roomBytes, Map<String, Long> ownBytes, long bytesToLose) {
        this.accounts = accounts;
        double sum = 0;
        for (Quota quota : quotas.byTenant().values()) {
            sum += quota.guaranteedBytes();
        }
        double part = sum <= roomBytes ? 1 : Math.max(0, roomBytes) / sum;
        quotas.byTenant().forEach((name, quota) -> {
            long scaled = (long) (quota.guaranteedBytes() * part);
            long own = Math.min(quota.guaranteedBytes(), ownBytes.getOrDefault(name, 0L));
            floors.put(name, roomBytes > 0 ? scaled : own);
        });
        level = level(Math.max(1, bytesToLose));
    }

    /** The highest that leaves enough above it; 0 when all that is above guarantees is not more than that. */
    private long level(long bytesToLose) {
        List<Long> excesses = new ArrayList<>();
        excesses.add(Math.max(0, excess(Tenant.DEFAULT.name())));
        accounts.names().forEach(name -> excesses.add(Math.max(0, excess(name))));
        excesses.sort(Comparator.reverseOrder());
        long above = 0;
        for (int i = 0; i < excesses.size(); i++) {
            above += excesses.get(i);
            long next = i + 1 < excesses.size() ? excesses.get(i + 1) : 0;
            long tenants = i + 1L;
            if (above - tenants * next >= bytesToLose) {
                return (above - bytesToLose) / tenants;
            }
        }
        return 0;
    }

    private long excess(String tenant) {
        return accounts.of(tenant).bytes() - floor(tenant);
    }

    /** What the tenant keeps. */
    public long floor(String tenant) {
        return floors.getOrDefault(tenant, 0L);
    }

    /**
     * Whether a tenant may lose an object of so many bytes, all copies together, for others.
     *
     * @param furthestOnly it must be among those that are furthest above their guarantees
     */
    public boolean mayLose(String tenant, long bytes, boolean furthestOnly) {
        long excess = excess(tenant);
        return excess >= bytes && (!furthestOnly || excess > level);
    }
}
