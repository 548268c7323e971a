// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.name;

/**
 * A peer that has shown a certificate of this pool.
 *
 * @param name the name in it
 * @param notAfterMs when it ends, milliseconds since 1970
 */
public record Principal(PeerName name, long notAfterMs) {
    public PeerRole role() {
        return name.role();
    }

    @Override
    public String toString() {
        return name.path();
    }
}
