// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.identity.name.ForeignNames;
import dev.kvpool.identity.name.PeerName;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;

/**
 * What a process shows to its peers and believes of them: read as a whole, checked, never changed.
 *
 * @param name who this process is
 * @param key of the leaf
 * @param chain the leaf first
 * @param roots that peers' certificates must lead to
 * @param foreign what peers' certificates stand for that others gave names
 */
public record Credentials(
        PeerName name, PrivateKey key, List<X509Certificate> chain, List<X509Certificate> roots, ForeignNames foreign) {
    public Credentials {
        chain = List.copyOf(chain);
        roots = List.copyOf(roots);
    }

    /** The end of the leaf. */
    public Instant notAfter() {
        return chain.getFirst().getNotAfter().toInstant();
    }

    /** The end of the root that ends first. */
    public Instant rootsNotAfter() {
        return roots.stream()
                .map(root -> root.getNotAfter().toInstant())
                .min(Instant::compareTo)
                .orElseThrow();
    }

    @Override
    public String toString() {
        return name.uri(); // never the key
    }
}
