// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What the certificates of a pool hang on, as a master sees it.
 *
 * @param roots digest of the roots that it trusts and gives to others
 * @param authority fingerprint of what it signs with, or of what has signed its own certificate; empty where that is none of the roots
 * @param notAfter end of that
 * @param own its own certificate
 * @param members what storage nodes and agents said of theirs
 */
public record TrustInEffect(String roots, String authority, Instant notAfter, Own own, List<Member> members) {
    public TrustInEffect {
        members = List.copyOf(members);
    }

    /** When the certificate of a master is valid. */
    public record Own(Instant notBefore, Instant notAfter) {}

    /**
     * One of them.
     *
     * @param name role and name, as in its certificate
     * @param roots digest of what it trusts
     * @param authority fingerprint of what has signed its certificate
     * @param notAfter end of its certificate; empty where it does not say
     * @param ageMs how long ago it said so
     */
    public record Member(String name, String roots, String authority, Optional<Instant> notAfter, long ageMs) {}
}
