// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.register.Register;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which part of the pool has a connection to this master. Of the expected nodes those count that the register has: one that has never come
 * has no objects, and is no sign of a fault. In a pool of engines alone its members count.
 */
public final class Reach {
    private final Membership membership;
    private final RegisterKeeper register;

    public Reach(Membership membership, RegisterKeeper register) {
        this.membership = membership;
        this.register = register;
    }

    /** Nodes that count, and those of them that are connected. */
    private record Part(int connected, int all) {}

    /** How much of the pool is connected: at least half is enough. */
    public enum Seen {
        ENOUGH,
        FEW,
        NONE
    }

    /** Of engines one may always be away, as they come and go. */
    public Seen seen() {
        Part part = part();
        boolean isOneEngine = isOfEngines() && part.all - part.connected < 2;
        return isOneEngine || 2 * part.connected >= part.all ? Seen.ENOUGH : part.connected > 0 ? Seen.FEW : Seen.NONE;
    }

    /**
     * Whether a candidate sees so much that it need not leave a free Lease to others. Engines that are away are mostly gone, at once with the
     * leader's machine as well, and nothing strikes them off the register before a master leads.
     */
    public boolean isEnoughToLead() {
        return isOfEngines() || seen() == Seen.ENOUGH;
    }

    /** Whether there are engines only, which the register soon has no more when they are away. */
    public boolean isOfEngines() {
        return membership.expected().isEmpty();
    }

    private Part part() {
        Set<String> counted = counted();
        int connected = 0;
        for (String id : counted) {
            NodeView node = membership.node(id);
            connected += node != null && node.isConnected() ? 1 : 0;
        }
        return new Part(connected, counted.size());
    }

    /** Those that have come at some time; all that are expected where that is not known. */
    Set<String> counted() {
        if (isOfEngines()) {
            return engines();
        }
        if (register.stored().isLost()) {
            return membership.expected();
        }
        Register known = register.wanted();
        return membership.expected().stream().filter(known::isMember).collect(Collectors.toSet());
    }

    /** Ids of the engines that lend memory and have not ended. */
    private Set<String> engines() {
        Set<String> engines = new HashSet<>();
        register.wanted().members().forEach((id, member) -> {
            if (member.isTransient() && !membership.hasEnded(id)) {
                engines.add(id);
            }
        });
        return engines;
    }

    @Override
    public String toString() {
        Part part = part();
        return part.connected + " of " + part.all + (isOfEngines() ? " engines" : " storage nodes");
    }
}
