// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the rotation of a pool's certificate authority is decided from.
 *
 * @param trust as it is stored
 * @param requested when a user asked for a rotation last
 * @param masters all pods of masters
 * @param members pods of storage nodes and agents that have run
 */
public record RotationView(
        PoolTrust trust,
        Instant now,
        Optional<Instant> requested,
        RotationTerms terms,
        List<Member> masters,
        List<Member> members) {
    public RotationView {
        masters = List.copyOf(masters);
        members = List.copyOf(members);
    }

    /**
     * One pod.
     *
     * @param mounts fingerprint of the CA whose key it was made with; empty for those that sign nothing
     * @param said what is known of its certificates; empty when it has not said it within some minutes
     */
    public record Member(String pod, String mounts, Optional<Said> said) {
        boolean isSilent() {
            return said.isEmpty();
        }

        boolean trusts(String digest) {
            return said.filter(it -> it.roots().equals(digest)).isPresent();
        }

        boolean isOf(String authority) {
            return said.filter(it -> it.authority().equals(authority)).isPresent();
        }
    }

    /**
     * What a process said.
     *
     * @param roots digest of what it trusts
     * @param authority fingerprint of what has signed its certificate
     */
    public record Said(String roots, String authority) {}
}
