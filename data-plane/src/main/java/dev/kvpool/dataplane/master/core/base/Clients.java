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

    /** Those that said who they are, by session and by that name. */
    private final Map<Long, ClientProcess> processOf = new HashMap<>();

    private final Map<String, ClientProcess> processes = new HashMap<>();

    private final TenantShares shares = new TenantShares(this::areAnyOfTenants);
    private boolean areAnyOfTenants;

    /** A client that may come again by another connection before this master has heard that it gave the former one up. */
    private static final class ClientProcess {
        final String name;
        int sessions;
        long latestSession;
        long latestRequest;

        ClientProcess(String name) {
            this.name = name;
        }
    }

    /**
     * A client came. Answers why it may not, or nothing.
     *
     * @param process the same for each connection of the client, and no other's; empty: not known
     * @param tenant by its certificate, or the default one without where others have one; empty where there are no tenants
     */
    public Optional<Objection> connect(long session, String process, Optional<Tenant> tenant, long nowMs) {
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
        if (!process.isEmpty()) {
            ClientProcess known = processes.computeIfAbsent(process, ClientProcess::new);
            known.sessions++;
            processOf.put(session, known);
        }
        if (tenant.isPresent()) {
            certified.put(session, new Asker(session, tenant.get(), Asker.Reach.TENANT));
        }
        return Optional.empty();
    }

    /** Whether the session is a client's. */
    public boolean heard(long session, long nowMs) {
        return heardMs.replace(session, nowMs) != null;
    }

    /**
     * Whether what a client asks for comes too late: it asked for something else after that, by a connection that it made later. It has
     * given this one up then, and has asked again for all that it still wants: a removal that counted would take what was put since.
     *
     * @param request its number, which grows with each request of a process, over all of its connections
     */
    public boolean isLate(long session, long request) {
        ClientProcess process = processOf.get(session);
        if (process == null) {
            return false;
        }
        boolean isOlder = Long.compareUnsigned(request, process.latestRequest) < 0;
        if (isOlder) {
            return session < process.latestSession;
        }
        process.latestRequest = request;
        process.latestSession = Math.max(session, process.latestSession);
        return false;
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
        ClientProcess process = processOf.remove(session);
        if (process != null && --process.sessions == 0) {
            processes.remove(process.name);
        }
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
