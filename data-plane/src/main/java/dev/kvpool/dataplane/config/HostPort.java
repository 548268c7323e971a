// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A place to connect to.
 *
 * @param host host name or IP address, an IPv6 address without its brackets
 * @param port 1 to 65535
 */
public record HostPort(String host, int port) {
    private static final int HOST_MAX = 253;

    public static final Format<HostPort> FORMAT = new Format<>(
            "HOST:PORT", "HOST:PORT with a port from 1 to 65535 and IPv6 addresses in brackets", HostPort::parse);

    public static final Format<List<HostPort>> LIST = Formats.listOf(FORMAT);

    public HostPort {
        requireHost(host);
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("port " + port + " is not between 1 and 65535");
        }
    }

    /** Reads {@code host:port} or {@code [ipv6]:port}. */
    public static HostPort parse(String text) {
        int colon = text.lastIndexOf(':');
        if (colon < 0) {
            throw new IllegalArgumentException("'" + text + "' has no port");
        }
        String host = text.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        if (!bracketed && host.contains(":")) {
            throw new IllegalArgumentException("'" + text + "' has an IPv6 address without brackets");
        }
        if (bracketed && !host.contains(":")) {
            throw new IllegalArgumentException("'" + text + "' has brackets around what is no IPv6 address");
        }
        return new HostPort(bracketed ? host.substring(1, host.length() - 1) : host, port(text, colon));
    }

    /** The list as clients take it. */
    public static String join(List<HostPort> places) {
        return places.stream().map(HostPort::toString).collect(Collectors.joining(","));
    }

    @Override
    public String toString() {
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
    }

    static String requireHost(String host) {
        boolean address = host.contains(":");
        String characters = address ? "[0-9a-fA-F:.]+(%[A-Za-z0-9._-]+)?" : "[A-Za-z0-9._-]+";
        if (host.length() > HOST_MAX || !host.matches(characters)) {
            throw new IllegalArgumentException("'" + host + "' is neither a host name nor an IP address");
        }
        return host;
    }

    private static int port(String text, int colon) {
        String digits = text.substring(colon + 1);
        if (!digits.matches("[0-9]{1,5}")) {
            throw new IllegalArgumentException("'" + text + "' has no port");
        }
        return Integer.parseInt(digits);
    }
}
