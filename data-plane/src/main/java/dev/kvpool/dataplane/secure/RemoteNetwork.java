// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * An address, or a network of addresses, as connections and requests are counted by it.
 *
 * @param prefix how many bits of it count: 32 of IPv4, 128 or 64 of IPv6
 * @param high the first 64 of them
 * @param low the rest
 */
public record RemoteNetwork(int prefix, long high, long low) {
    private static final int IPV4 = 32;
    private static final int NETWORK = 64;
    private static final int IPV6 = 128;

    /** One address. Clusters give each pod one of its own, a node and all its pods less than a network of 64 bits. */
    public static RemoteNetwork of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address
                ? new RemoteNetwork(IPV4, bytes.getInt(), 0)
                : new RemoteNetwork(IPV6, bytes.getLong(), bytes.getLong());
    }

    /** Of IPv6 the network in which one host may choose its addresses. */
    public Optional<RemoteNetwork> around() {
        return prefix == IPV6 ? Optional.of(new RemoteNetwork(NETWORK, high, 0)) : Optional.empty();
    }
}
