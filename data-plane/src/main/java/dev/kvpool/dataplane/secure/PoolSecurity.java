// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.time.InstantSource;
import java.util.Optional;

/**
 * What a process has for its connections to be secure.
 *
 * @param mode whether they are
 * @param identity its certificates; present unless the mode is off
 * @param counts of handshakes and refusals
 */
public record PoolSecurity(TlsMode mode, Optional<TlsIdentity> identity, TlsCounts counts) implements AutoCloseable {
    /** Plain. */
    public static PoolSecurity off() {
        return new PoolSecurity(TlsMode.OFF, Optional.empty(), new TlsCounts());
    }

    /**
     * Reads the certificates and follows them.
     *
     * @param own what this process requires of the name in its certificate
     * @throws RefusedCertificateException with the file, the cause and how to fix it
     */
    public static PoolSecurity open(TlsPlace place, TlsIdentity.OwnName own) throws RefusedCertificateException {
        if (place.mode() != TlsMode.OFF && place.directory().isEmpty()) {
            throw new IllegalArgumentException("mode " + place.mode().word() + " needs a directory of certificates");
        }
        return place.used().isEmpty()
                ? off()
                : new PoolSecurity(
                        place.mode(),
                        Optional.of(TlsIdentity.open(place.used().get(), own, InstantSource.system())),
                        new TlsCounts());
    }

    /**
     * Follows credentials that come from elsewhere than a directory.
     *
     * @param mode not off
     * @throws RefusedCertificateException when there are none at first
     */
    public static PoolSecurity following(TlsMode mode, CredentialSource source) throws RefusedCertificateException {
        return new PoolSecurity(mode, Optional.of(TlsIdentity.follow(source)), new TlsCounts());
    }

    /** What diallers of this process use. */
    public Optional<TlsContext> current() {
        return identity.map(TlsIdentity::current);
    }

    @Override
    public void close() {
        identity.ifPresent(TlsIdentity::close);
    }
}
