// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.util.Optional;

/** Where the credentials of a process come from, as often as it looks. */
public interface CredentialSource {
    /**
     * Credentials that are new since the last look; at the first there are some.
     *
     * @throws RefusedCertificateException when there are new ones that cannot be used, with the cause and how to fix it
     */
    Optional<Credentials> look() throws RefusedCertificateException;
}
