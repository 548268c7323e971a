// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static dev.kvpool.identity.name.PeerRole.ADMIN;
import static dev.kvpool.identity.name.PeerRole.AGENT;
import static dev.kvpool.identity.name.PeerRole.MASTER;
import static dev.kvpool.identity.name.PeerRole.MONITOR;
import static dev.kvpool.identity.name.PeerRole.NODE;
import static dev.kvpool.identity.name.PeerRole.OPERATOR;
import static dev.kvpool.identity.name.PeerRole.TENANT;

import dev.kvpool.identity.name.Access;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import java.util.Set;

/** What can be done with a pool, and the roles that may. What a role is not named for is refused. */
public enum Verb {
    /** Ask a process for its health, readiness and version: open, since kubelets have no certificate. */
    HEALTH(false, PeerRole.values()),
    /** Ask for a certificate: open, since who has one does not need one; the token that comes with it is checked. */
    ENROL(false, PeerRole.values()),
    /** Read metrics. */
    METRICS(false, MONITOR, OPERATOR, ADMIN),
    /** See masters, nodes, segments and drains of the pool. */
    OBSERVE(false, MONITOR, OPERATOR, ADMIN),
    /** See how tenants stand to their quotas; a tenant sees its own only. */
    SEE_QUOTAS(false, MONITOR, OPERATOR, ADMIN, TENANT),
    /** See which objects there are and where, over HTTP: a tenant its own. */
    SEE_OBJECTS(false, TENANT, ADMIN),
    /** List keys, over HTTP: one question goes through the whole pool. */
    LIST_KEYS(false, ADMIN),
    /** Move leadership, drain, finish an upgrade. */
    STEER(false, OPERATOR, ADMIN),
    /** Change or remove objects of the whole pool, or what tenants may have, over HTTP. */
    CHANGE_OBJECTS(false, ADMIN),
    /** Be greeted as a client; a master asks another one only whether it is there. */
    GREET(false, TENANT, AGENT, ADMIN, MASTER),
    /** Look up, ask for existence, ask for a copy's progress. */
    LOOK_UP(false, TENANT, AGENT, ADMIN),
    /** Put, replace, remove, hint, copy. */
    WRITE(true, TENANT, AGENT, ADMIN),
    /** Speak as the storage node of one's own name. */
    SERVE(false, NODE),
    /** Contribute memory for as long as the process lives, as a transient node. */
    CONTRIBUTE(true, TENANT, AGENT);

    private final boolean changes;

    @SuppressWarnings("ImmutableEnumChecker") // made once, by Set.of
    private final Set<PeerRole> roles;

    Verb(boolean changes, PeerRole... roles) {
        this.changes = changes;
        this.roles = Set.of(roles);
    }

    /** Whether a peer of this name may do it. */
    public boolean isAllowed(PeerName peer) {
        return roles.contains(peer.role()) && (!changes || peer.access() == Access.WRITE);
    }

    /** Whether a peer may do it that has shown no certificate. */
    public boolean isOpen() {
        return this == HEALTH || this == ENROL;
    }
}
