// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashMap;
import java.util.Map;

/**
 * Removals of everything that engines of tenants tell of while the register is lost. In a pool where such engines alone have memory no
 * other node knows of them. Each counts for objects of the engine's own tenant: these it may remove as well, so that one that lies gains
 * nothing.
 */
public final class TenantPurges {
    private final Map<Tenant, ObjectId> below = new HashMap<>();

    /** Whether that is more than was known. */
    boolean told(Tenant tenant, ObjectId purgeId) {
        boolean isMore = purgeId.isNewerThan(below.getOrDefault(tenant, ObjectId.NONE));
        if (isMore) {
            below.put(tenant, purgeId);
        }
        return isMore;
    }

    /** Whether one of them covers an object. */
    public boolean cover(StoredObject object) {
        return !below.isEmpty()
                && below.getOrDefault(object.tenant(), ObjectId.NONE).isNewerThan(object.id());
    }

    /** Another leads, or this one begins again: the nodes tell once more. */
    public void endTerm() {
        below.clear();
    }
}
