// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import dev.kvpool.identity.name.PeerName;
import java.net.InetAddress;
import java.time.Instant;
import java.util.Optional;

/**
 * Who makes a request, as far as it is known.
 *
 * @param name that a certificate or a token says; empty for one that has shown neither, or none that is believed
 * @param serial of the certificate, in hexadecimal digits; empty without one
 * @param address it came from
 * @param until when the certificate or token ends; {@link Instant#MAX} without one
 */
public record Caller(Optional<PeerName> name, String serial, InetAddress address, Instant until) {
    /** One whose certificate, if it has shown one, does not matter any more. */
    public Caller(Optional<PeerName> name, String serial, InetAddress address) {
        this(name, serial, address, Instant.MAX);
    }

    /** One of whom only the address is known. */
    public static Caller unknown(InetAddress address) {
        return new Caller(Optional.empty(), "", address);
    }
}
