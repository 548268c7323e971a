// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.tenant.TenantShares;
import dev.kvpool.dataplane.register.Member;
import dev.kvpool.dataplane.register.RegisterText;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.wire.RefusalCode;
import java.util.Optional;

/**
 * How many engines may lend memory. Each client that may write can do so under any number of names, and each name takes a place in this
 * master's memory and in the register. They get a part of both, which tenants share, and the rest is kept for the storage nodes
 * that are expected: these can always come, and be written down as behind.
 */
public final class LentMemory {
    /** Engines are HOST:PORT-RANDOM. */
    static final int ID_CHARS_MAX = 128;

    static final int NODES_MAX = Bounds.NODES_MAX / 2;

    /** Of the register. */
    static final int CHARS_MAX = RegisterText.CHARS_MAX / 4 * 3;

    /** A name is there twice when its node is behind, each time with a few words, once with its tenant. */
    private static final int WORDS_CHARS = 48;

    private static final String REMEDY =
            "let fewer processes lend more each, or none (global_segment_size 0) and give the pool storage nodes";

    private final Membership membership;
    private final RegisterKeeper register;

    public LentMemory(Membership membership, RegisterKeeper register) {
        this.membership = membership;
        this.register = register;
    }

    /** What engines have of both. */
    private static final class Lent {
        private final TenantShares names = new TenantShares(this::areAnyOfTenants);
        private final TenantShares chars = new TenantShares(this::areAnyOfTenants);

        private boolean areAnyOfTenants() {
            return names.all() > names.of(Tenant.DEFAULT);
        }

        private static long chars(String id, Tenant tenant) {
            return 2L * id.length() + tenant.name().length() + WORDS_CHARS;
        }

        private boolean hasRoom(String id, Tenant tenant) {
            return names.hasRoom(tenant, 1, NODES_MAX) && chars.hasRoom(tenant, chars(id, tenant), CHARS_MAX);
        }

        private void add(String id, Tenant tenant) {
            names.add(tenant, 1);
            chars.add(tenant, chars(id, tenant));
        }
    }

    /**
     * Why a node may not come in that is not expected, and so counts as an engine's; empty when it may. Who is in the register has its place there, and
     * objects that only it has: it comes in also where others were sooner at this master.
     */
    public Optional<Objection> objection(NodePeer peer) {
        if (membership.expected().contains(peer.id())) {
            return Optional.empty();
        }
        NodeView known = membership.node(peer.id());
        Member member = register.wanted().members().get(peer.id());
        boolean isKnownOther =
                known != null && known.isTransient() && !known.peer().tenant().equals(peer.tenant());
        boolean isOther =
                member != null && member.isTransient() && !member.tenant().equals(tenant(peer));
        if (isKnownOther || isOther) {
            return refused("node id " + peer.id() + " is that of another tenant's engine; give the engine its own");
        }
        if (known != null || member != null) {
            return Optional.empty();
        }
        String id = peer.id();
        if (id.length() > ID_CHARS_MAX) {
            return refused("node id " + id.substring(0, ID_CHARS_MAX) + "... has " + id.length()
                    + " characters; it is no storage node of this"
                    + " pool, and memory that an engine lends has an id of at most " + ID_CHARS_MAX
                    + ": give the engine a shorter host name");
        }
        Lent lent = new Lent();
        for (NodeView node : membership.all()) {
            if (!membership.expected().contains(node.id)) {
                lent.add(node.id, tenant(node.peer()));
            }
        }
        register.wanted().members().forEach((name, each) -> {
            if (each.isTransient() && membership.node(name) == null) {
                lent.add(name, each.tenant());
            }
        });
        Tenant tenant = tenant(peer);
        return lent.hasRoom(id, tenant)
                ? Optional.empty()
                : refused("node " + id + " cannot lend memory: " + lent.names.all() + " engines of this pool do, "
                        + lent.names.of(tenant) + " of tenant " + tenant.name()
                        + ", and what is left is for its storage nodes and for other tenants; " + REMEDY);
    }

    private static Tenant tenant(NodePeer peer) {
        return peer.tenant().orElse(Tenant.DEFAULT);
    }

    private static Optional<Objection> refused(String why) {
        return Optional.of(new Objection(RefusalCode.LIMIT, why));
    }
}
