// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.master.core.tenant.TenantShares;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.wire.RefusalCode;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The sessions of clients, when each was heard last, and whose they are. */
public final class Clients {
    private final Map<Long, Long> heardMs = new LinkedHashMap<>();

    /** Of those that have a certificate. */
    private final Map<Long, Asker> certified = new HashMap<>();

    private final TenantShares shares = new TenantShares(this::areAnyOfTenants);
    private boolean areAnyOfTenants;

    /**
     * A client came. Answers why it may not, or nothing.
     *
     * @param tenant by its certificate; empty without one
     */
    public Optional<Objection> connect(long session, Optional<Tenant> tenant, long nowMs) {
        Tenant whose = tenant.orElse(Tenant.DEFAULT);
        areAnyOfTenants |= !whose.isDefault();
        if (!shares.hasRoom(whose, 1, Bounds.CLIENTS_MAX)) {
            return Optional.of(new Objection(
                    RefusalCode.LIMIT,
                    "this master serves at most " + Bounds.CLIENTS_MAX + " clients at a time, and " + shares.of(whose)
                            + " of tenant " + whose.name() + " are there; what is free is for other tenants"));
        }
        heardMs.put(session, nowMs);
        shares.add(whose, 1);
        if (tenant.isPresent()) {
            certified.put(session, new Asker(session, tenant.get(), Asker.Reach.TENANT));
        }
        return Optional.empty();
    }

    /** Whether the session is a client's. */
    public boolean heard(long session, long nowMs) {
        return heardMs.replace(session, nowMs) != null;
    }

    /** Who that is. */
    public Asker asker(long session) {
        Asker known = certified.isEmpty() ? null : certified.get(session);
        return known == null ? Asker.plain(session) : known;
    }

    /** Whether one of another tenant than {@link Tenant#DEFAULT} has come, or was refused: it may come again, and find room then. */
    public boolean areAnyOfTenants() {
        return areAnyOfTenants;
    }

    /** Whether one of another tenant than {@link Tenant#DEFAULT} is connected. */
    public boolean isAnyOfTenantsHere() {
        return certified.values().stream().anyMatch(asker -> !asker.tenant().isDefault());
    }

    /** Whether the session was a client's. */
    public boolean disconnect(long session) {
        Asker gone = certified.remove(session);
        boolean was = heardMs.remove(session) != null;
        if (was) {
            shares.add(gone == null ? Tenant.DEFAULT : gone.tenant(), -1);
        }
        return was;
    }

    public int count() {
        return heardMs.size();
    }

    public Set<Map.Entry<Long, Long>> heardMs() {
        return heardMs.entrySet();
    }
}
