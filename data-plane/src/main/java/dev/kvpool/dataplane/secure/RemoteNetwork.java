// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * An address as connections and requests are counted by it: all of IPv4, of IPv6 the network of 64 bits that a host can choose its addresses in.
 *
 * @param isIpv4 whose bits do not collide with those of IPv6
 * @param bits the address, or the first half of it
 */
public record RemoteNetwork(boolean isIpv4, long bits) {
    public static RemoteNetwork of(InetAddress address) {
        ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
        return address instanceof Inet4Address
                ? new RemoteNetwork(true, bytes.getInt())
                : new RemoteNetwork(false, bytes.getLong());
    }
}
