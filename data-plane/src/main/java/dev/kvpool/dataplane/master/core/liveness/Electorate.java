// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.register.Register;
import java.util.Optional;
import java.util.Set;

/**
 * The nodes whose answers say whether a leader is heard. A leader and the standby that may follow it must count the same ones, or each could
 * have its own majority. Both know them from their configuration, which reaches one master before the other, and from the register in
 * the Lease: while these differ no node is counted, so that the leader is sure by its Lease alone, and followed when that has run out.
 */
public final class Electorate {
    private final Membership membership;
    private final RegisterKeeper register;

    public Electorate(Membership membership, RegisterKeeper register) {
        this.membership = membership;
        this.register = register;
    }

    /** Ids of the nodes that count; nothing while that is not sure. */
    Optional<Set<String>> voters() {
        Set<String> expected = membership.expected();
        return register.isSure(it -> storageNodes(it) == expected.size()
                        && it.members().keySet().containsAll(expected))
                ? Optional.of(expected)
                : Optional.empty();
    }

    private static long storageNodes(Register register) {
        return register.members().values().stream()
                .filter(member -> !member.isTransient())
                .count();
    }
}
