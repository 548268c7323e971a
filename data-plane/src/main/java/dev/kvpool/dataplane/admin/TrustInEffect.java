// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import java.time.Instant;
import java.util.List;

/**
 * What the certificates of a pool hang on, as a master that signs them sees it.
 *
 * @param roots digest of the roots that it trusts and gives to others
 * @param authority fingerprint of what it signs with
 * @param notAfter end of that
 * @param members what storage nodes and agents said of theirs
 */
public record TrustInEffect(String roots, String authority, Instant notAfter, List<Member> members) {
    public TrustInEffect {
        members = List.copyOf(members);
    }

    /**
     * One of them.
     *
     * @param name role and name, as in its certificate
     * @param roots digest of what it trusts
     * @param authority fingerprint of what has signed its certificate
     * @param ageMs how long ago it said so
     */
    public record Member(String name, String roots, String authority, long ageMs) {}
}
