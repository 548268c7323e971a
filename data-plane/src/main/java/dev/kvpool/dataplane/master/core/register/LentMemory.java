// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Objection;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.register.Member;
import dev.kvpool.dataplane.register.RegisterText;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.wire.RefusalCode;
import java.util.Optional;

/**
 * How many engines may lend memory. Each client that may write can do so under any number of names, and each name takes a place in this
 * master's memory and in the register. They get a part of both, one tenant's a part of that, and the rest is kept for the storage nodes
 * that are expected: these can always come, and be written down as behind.
 */
public final class LentMemory {
    /** Engines are HOST:PORT-RANDOM. */
    static final int ID_CHARS_MAX = 128;

    static final int NODES_MAX = Bounds.NODES_MAX / 2;

    /** Of the register. */
    static final int CHARS_MAX = RegisterText.CHARS_MAX / 4 * 3;

    /** What one tenant leaves to the others. */
    private static final int LEFT_PART = 4;

    /** A name is there twice when its node is behind, each time with a few words. */
    private static final int WORDS_CHARS = 48;

    private static final String REMEDY =
            "let fewer processes lend more each, or none (global_segment_size 0) and give the pool storage nodes";

    private final Membership membership;
    private final RegisterKeeper register;

    public LentMemory(Membership membership, RegisterKeeper register) {
        this.membership = membership;
        this.register = register;
    }

    private static final class Share {
        private int nodes;
        private int chars;

        private void take(String id) {
            nodes++;
            chars += 2 * id.length() + WORDS_CHARS;
        }

        private boolean isAbove(int part, int of) {
            return nodes > NODES_MAX / of * part || chars > CHARS_MAX / of * part;
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
        boolean isOther = member != null
                && member.isTransient()
                && !member.tenant().equals(peer.tenant().orElse(Tenant.DEFAULT));
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
        Share all = new Share();
        Share tenants = new Share();
        all.take(id);
        tenants.take(id);
        // Where there are no tenants, all engines are the default one's.
        boolean hasOthers = !peer.tenant().equals(Optional.of(Tenant.DEFAULT));
        for (NodeView node : membership.all()) {
            if (!membership.expected().contains(node.id)) {
                all.take(node.id);
                if (node.peer().tenant().equals(peer.tenant())) {
                    tenants.take(node.id);
                } else {
                    hasOthers = true;
                }
            }
        }
        register.wanted().members().forEach((name, each) -> {
            if (each.isTransient() && membership.node(name) == null) {
                all.take(name);
            }
        });
        if (peer.tenant().isPresent() && hasOthers && tenants.isAbove(LEFT_PART - 1, LEFT_PART)) {
            return refused(full(id, peer.tenant().get(), tenants.nodes - 1));
        }
        return all.isAbove(1, 1)
                ? refused(
                        "node " + id + " cannot lend memory: " + (all.nodes - 1) + " engines of this pool do, and there"
                                + " is no room for one more beside its storage nodes; " + REMEDY)
                : Optional.empty();
    }

    private static String full(String id, Tenant tenant, int nodes) {
        return "node " + id + " cannot lend memory: " + nodes + " engines of tenant " + tenant.name()
                + " do, and what is left is for other tenants; " + REMEDY;
    }

    private static Optional<Objection> refused(String why) {
        return Optional.of(new Objection(RefusalCode.LIMIT, why));
    }
}
