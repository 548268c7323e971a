// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The nodes whose answers say whether a leader is heard. A leader and the standby that may follow it must count the same ones, or each could
 * have its own majority. Where there are storage nodes, both know them from their configuration, which reaches one master before the other, and from the register in
 * the Lease: while these differ no node is counted, so that the leader is sure by its Lease alone, and followed when that has run out. In a
 * pool of engines alone they are the members, by the register alone: a leader that changes it goes by what it was and what it is to be, and who
 * takes the Lease has read the one that it has. No engine counts whose word ends no leader, see {@link Silences}: none of a tenant, of which one
 * may have most, and none at all where each has a certificate. While TLS is permissive, those of tenant {@code default} with one count for the leader alone.
 */
public final class Electorate {
    private final Membership membership;
    private final RegisterKeeper register;
    private final boolean areAllCertified;

    /** @param areAllCertified whether no node is without a certificate */
    public Electorate(Membership membership, RegisterKeeper register, boolean areAllCertified) {
        this.membership = membership;
        this.register = register;
        this.areAllCertified = areAllCertified;
    }

    /** Ids of the nodes that count, for each register that the Lease may have now; nothing while that is not sure. */
    List<Set<String>> possible() {
        Set<Set<String>> possible = new LinkedHashSet<>();
        for (Register each : register.inLease()) {
            Set<String> voters = voters(each).orElse(null);
            if (voters == null) {
                return List.of();
            }
            possible.add(voters);
        }
        return List.copyOf(possible);
    }

    /** The same for a master that does not lead: by the Lease as it read that last. */
    Set<String> known() {
        return voters(register.stored()).orElse(Set.of());
    }

    /** Whether the engines are asked, since there is nothing else. */
    boolean isOfEngines() {
        return membership.expected().isEmpty();
    }

    private Optional<Set<String>> voters(Register now) {
        Set<String> storageNodes = new HashSet<>();
        Set<String> engines = new HashSet<>();
        now.members().forEach((id, member) -> {
            if (!member.isTransient()) {
                storageNodes.add(id);
            } else if (member.tenant().equals(Tenant.DEFAULT) && !areAllCertified) {
                engines.add(id);
            }
        });
        if (!storageNodes.equals(membership.expected())) {
            return Optional.empty();
        }
        return Optional.of(isOfEngines() ? engines : storageNodes);
    }
}
